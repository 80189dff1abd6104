/** Texts of the operations on workflows and their executions for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

const id = "/data/id";
export const toWorkflow = {
  getWorkflow: { id },
  updateWorkflow: { id },
  deleteWorkflow: { id },
  addWorkflowStep: { id },
  startExecution: { id },
  listExecutions: { id },
};
const stepId = "Id of the step";
const transitionId = "Id of the transition";
const executionId = "Id of the execution";
const toExecution = {
  getExecution: { id: "/data/workflowId", executionId: "/data/id" },
  cancelExecution: { id: "/data/workflowId", executionId: "/data/id" },
};

export const workflowOperations = describeOperations(
  { tag: "Workflows", id: "Id of the workflow" },
  {
    listWorkflows: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List workflows",
      description:
        "Workflows that match the filter, newest first, with their graphs. Viewers do not see the " +
        "values of the headers of WEBHOOK steps, which may be credentials.",
    },
    createWorkflow: {
      role: "EDITOR",
      summary: "Create a workflow with its whole graph or only its trigger",
      description:
        "The graph is checked as a whole: one TRIGGER, every step reachable, no cycle without a " +
        "DELAY or WAIT_FOR_EVENT. All violations are answered with 422.",
      isIdempotent: true,
      links: toWorkflow,
    },
    deleteWorkflow: {
      role: "EDITOR",
      summary: "Delete a workflow with all its executions",
      description: "Active executions are cancelled.",
    },
    addWorkflowStep: {
      role: "EDITOR",
      summary: "Insert a step after another one",
      description:
        "The step that followed that one follows the new step: at the branch `yes` or " +
        "`default` of a CONDITION, otherwise by an unconditional transition. The new step is " +
        "the last of `steps` in the response.",
      isIdempotent: true,
    },
    updateWorkflowStep: {
      role: "EDITOR",
      summary: "Change a step",
      description: "Changes the given fields; `config` replaces the stored one.",
      parameters: { stepId },
    },
    deleteWorkflowStep: {
      role: "EDITOR",
      summary: "Delete a step; transitions to it then lead to the step after it",
      description: "The TRIGGER cannot be deleted.",
      parameters: { stepId },
    },
    addWorkflowTransition: {
      role: "EDITOR",
      summary: "Add a transition",
      description: "Connects two steps that exist.",
      isIdempotent: true,
    },
    updateWorkflowTransition: {
      role: "EDITOR",
      summary: "Change a transition",
      description: "Changes the given fields.",
      parameters: { transitionId },
    },
    deleteWorkflowTransition: {
      role: "EDITOR",
      summary: "Delete a transition; refused if a step can then not be reached",
      description: "The steps stay.",
      parameters: { transitionId },
    },
    listWorkflowCounts: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Count the executions of workflows by status",
      description:
        "The numbers are exact. They are counted in threads, so a large one takes longer.",
    },
    getWorkflowCounts: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Count the executions of a workflow by status and by step",
      description:
        "The numbers by status are exact. Those of completed steps are of the newest executions.",
    },
    listExecutions: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List the executions of a workflow",
      description: "Executions that match the filter, newest first, without their steps.",
    },
    startExecution: {
      role: "EDITOR",
      summary: "Start an enabled workflow for a contact",
      description: "Begins after the TRIGGER. A workflow that is not enabled is refused with 409.",
      isIdempotent: true,
      links: toExecution,
    },
    cancelAllExecutions: {
      role: "EDITOR",
      summary: "Cancel all active executions of a workflow",
      description: "Answers with their number. Needs no body.",
    },
    getExecution: {
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get an execution with its completed steps",
      description: "The execution with the outcome of each step, in their order.",
      parameters: { executionId },
    },
    cancelExecution: {
      role: "EDITOR",
      summary: "Cancel an active execution",
      description: "An execution that has ended is refused with 409. Needs no body.",
      parameters: { executionId },
    },
  },
);

export const contactExecutionOperations = describeOperations(
  { tag: "Workflows", id: "Id of the contact" },
  {
    listContactExecutions: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List the workflow executions of a contact",
      description: "The executions of all workflows for the contact, newest first, without steps.",
    },
    listUnenteredWorkflows: {
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "List the workflows that a contact never entered",
      description:
        "With the event that starts each of them, and when it last happened for the contact. Of the " +
        "newest 500 workflows of the project.",
    },
  },
);
