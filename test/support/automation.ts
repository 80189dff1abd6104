/** Creates an application that runs workflows, with functions that act on them as a user would. */

import { valueAt, listAt, stringAt } from "./json.ts";
import { testApp, type TestApp, type TestOptions } from "./app.ts";
import { projectPerTest } from "./project-per-test.ts";

export type Automation = ReturnType<typeof withAutomation>;

export type Given = Record<string, unknown>;

export type TestExecution = {
  id: string;
  status: string;
  contactId: string | null;
  currentStepId: string | null;
  context: unknown;
  exitReason: string | null;
  error: string | null;
  /** The completed steps as `stepId outcome[:branch]`, in order. */
  steps: string[];
  /** The stored detail of each completed step. */
  details: unknown[];
};

const withPrivateAddresses = (options: TestOptions): TestOptions => ({
  ...options,
  config: { allowPrivateAddresses: true, ...options.config },
});

export async function startAutomation(options: TestOptions = {}) {
  const t = await testApp(withPrivateAddresses(options));
  await t.deliver();
  return withAutomation(t);
}

/** The same on one application, with a new project for each test. */
export function automationPerTest(options: TestOptions = {}) {
  const projects = projectPerTest(withPrivateAddresses(options));
  return async (): Promise<Automation> => {
    const t = await projects.next();
    await t.deliver();
    return withAutomation(t);
  };
}

function withAutomation(t: TestApp) {
  async function settle(): Promise<void> {
    await t.app.entries.idle();
    await t.app.automation.idle();
  }

  /** Returns the fields of an execution that tests compare. */
  async function execution(workflowId: string, id: string): Promise<TestExecution> {
    const { body } = await t.call("GET", `/workflows/${workflowId}/executions/${id}`);
    const data = valueAt(body, "data");
    const steps = listAt(data, "steps");
    const nullable = (name: string) => (valueAt(data, name) === null ? null : stringAt(data, name));
    return {
      id,
      status: stringAt(data, "status"),
      contactId: nullable("contactId"),
      currentStepId: nullable("currentStepId"),
      context: valueAt(data, "context"),
      exitReason: nullable("exitReason"),
      error: nullable("error"),
      steps: steps.map((step) => {
        const branch = valueAt(step, "branch");
        const name = `${stringAt(step, "stepId")} ${stringAt(step, "outcome")}`;
        return branch === null ? name : `${name}:${stringAt(step, "branch")}`;
      }),
      details: steps.map((step) => valueAt(step, "detail")),
    };
  }

  return {
    t,
    settle,
    execution,

    /** Creates an enabled workflow and returns its id. */
    workflow: (graph: Given, rest: Given = {}): Promise<string> =>
      t.create("/workflows", { name: "Flow", enabled: true, ...graph, ...rest }, "data.id"),

    /** Creates a template and returns its id. */
    template: (rest: Given = {}): Promise<string> =>
      t.create(
        "/templates",
        {
          name: "Hello",
          type: "MARKETING",
          subject: "Hello",
          body: "<p>Hello</p>",
          from: "news@acme.test",
          ...rest,
        },
        "data.id",
      ),

    /** Tracks an event and waits until all executions that are due have advanced. */
    async track(event: string, data?: Given, email = "ada@example.net"): Promise<void> {
      const body = { event, email, ...(data === undefined ? {} : { data }) };
      const response = await t.call("POST", "/v1/track", body);
      if (response.status !== 200) throw new Error(JSON.stringify(response.body));
      await settle();
    },

    /** Advances the clock and waits until all executions that are due have advanced. */
    async advance(ms: number): Promise<void> {
      t.clock.advance(ms);
      await settle();
    },

    /** Returns all executions of a workflow, oldest first. */
    async executions(workflowId: string): Promise<TestExecution[]> {
      const { body } = await t.call("GET", `/workflows/${workflowId}/executions?limit=100`);
      const ids = listAt(body, "data.items").map((item) => stringAt(item, "id"));
      return Promise.all(ids.toReversed().map((id) => execution(workflowId, id)));
    },

    /** Returns the only execution of a workflow; throws if there are none or several. */
    async only(workflowId: string): Promise<TestExecution> {
      const all = await this.executions(workflowId);
      const [first] = all;
      if (first === undefined || all.length > 1) throw new Error(`found ${all.length} executions`);
      return first;
    },

    contactId: (email = "ada@example.net"): string =>
      t.db.sqlite
        .query<{ id: string }, [number, string]>(
          "SELECT id FROM contacts WHERE project_seq = ? AND email = ?",
        )
        .get(t.project.seq, email)?.id ?? "",

    /** Returns the mails that workflows created, as `address subject status`. */
    mails: (): string[] =>
      t.db.sqlite
        .query<{ mail: string }, [number]>(
          `SELECT coalesce(to_address, 'nobody') || ' ' || subject ||
             iif(status = 'SUPPRESSED', ' SUPPRESSED', '') AS mail
           FROM emails WHERE source = 'WORKFLOW' AND project_seq = ? ORDER BY seq`,
        )
        .all(t.project.seq)
        .map(({ mail }) => mail),

    close: () => t.close(),
  };
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
