/**
 * The panel of one step while the workflow is edited: its settings, the steps after it, and its
 * numbers.
 */

import { ActionIcon, Button, Group, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { ArrowDown, ArrowUp, Plus, Trash2, X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { WorkflowCounts } from "../../../../modules/workflows/count-model.ts";
import type { Workflow } from "../../../../modules/workflows/model.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { useLayer } from "../../../ui/layers.ts";
import { SideDrawer } from "../../../ui/side-drawer.tsx";
import { showDone } from "../../../ui/undo.tsx";
import { StepNumbers } from "../step-numbers.tsx";
import { StepIcon } from "../step-icon.tsx";
import { settingsText, stepName, TYPE_WORDS, wayWord } from "../step-texts.ts";
import { stepChoices } from "./add-step.tsx";
import { branchesOf, type DraftStep, type Graph } from "./draft.ts";
import { faultAt, faultText } from "./faults.ts";
import { STEP_FORMS } from "./forms/step-form.tsx";
import {
  configure,
  connect,
  deleteStep,
  lostSteps,
  moveDown,
  moveUp,
  nameStep,
  type WayOut,
  renameId,
  stepOf,
  takenBranches,
  wayAt,
} from "./graph-edits.ts";
import type { WorkflowEditing } from "./use-editor.ts";

type Props = {
  workflow: Workflow;
  project: string;
  editor: WorkflowEditing;
  counts: WorkflowCounts | undefined;
  id: string | undefined;
  /** The panel stands beside the picture, whose other steps can be opened meanwhile. */
  isBeside: boolean;
  onOpen: (id: string) => void;
  onAdd: (place: WayOut) => void;
  /** Lists the executions of a status that are at the step. */
  onList: (status: string) => void;
  onClose: () => void;
};

/** Beside the picture on wide screens, so that other steps can be opened meanwhile; else a drawer. */
export function StepPanel(props: Props) {
  const { editor, id, isBeside, onClose } = props;
  const isWide = useMediaQuery("(min-width: 1024px)", true, { getInitialValueInEffect: false });
  // The content stays while the drawer closes.
  const last = useRef(id);
  useEffect(() => {
    if (id !== undefined) last.current = id;
  }, [id]);
  const step = stepOf(editor.value, id ?? last.current ?? "");
  const title = (
    <h2 className="drawer-heading panel-heading">
      {step !== undefined && <StepIcon type={step.type} />}
      {step === undefined ? "Step" : stepName(step)}
    </h2>
  );
  const content =
    step === undefined ? (
      <p className="muted">This step is not in the graph any more.</p>
    ) : (
      // A step keeps its place in the list when it gets another id, and its field the focus.
      <StepFields
        key={`${editor.value.steps.indexOf(step)} ${editor.replaced}`}
        {...props}
        step={step}
      />
    );
  if (!isBeside || !isWide) {
    return (
      <SideDrawer isOpen={id !== undefined} onClose={onClose} label="Step" size={480} title={title}>
        {content}
      </SideDrawer>
    );
  }
  if (id === undefined) return null;
  return (
    <DockedPanel id={id} title={title} onClose={onClose}>
      {content}
    </DockedPanel>
  );
}

/** It is a dialog beside the page: Esc closes it, and the focus goes back to the step. */
function DockedPanel(props: {
  id: string;
  title: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const { id, title, onClose, children } = props;
  const panel = useRef<HTMLElement>(null);
  useLayer(true, onClose);
  useEffect(() => {
    const element = panel.current;
    element?.scrollTo({ top: 0 });
    if (element !== null && !element.contains(document.activeElement)) element.focus();
  }, [id]);
  return (
    <aside ref={panel} className="docked" role="dialog" aria-label="Step" tabIndex={-1}>
      <header className="docked-head">
        <div className="grow">{title}</div>
        <ActionIcon aria-label="Close" onClick={onClose}>
          <X size={18} />
        </ActionIcon>
      </header>
      {children}
    </aside>
  );
}

function StepFields(props: Props & { step: DraftStep }) {
  const { step, project, editor, counts, onOpen, onAdd, onList, onClose } = props;
  const { value } = editor;
  const Form = STEP_FORMS[step.type];
  const own = editor.faults.filter((fault) => fault.step === step);
  const isTrigger = step.type === "TRIGGER";
  const fields = useRef<HTMLDivElement>(null);
  // A panel that a problem has opened begins at the faulty field.
  useEffect(() => {
    if (own.length > 0) fields.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, []);
  const whole = own.filter(
    ({ field }) => !field.startsWith("config") && field !== "name" && field !== "id",
  );
  return (
    <div className="panel" ref={fields}>
      {whole.map((fault) => (
        <p key={fault.field + fault.message} className="field-fault" role="alert">
          {faultText(fault)}
        </p>
      ))}
      <Form
        step={step}
        project={project}
        fault={(field) => faultAt(own, field)}
        onChange={(config, renames) =>
          editor.edit(configure(value, step.id, config, renames), `settings of ${step.id}`)
        }
      />
      <TextInput
        label="Name"
        description="Shown in the graph and with executions."
        placeholder={TYPE_WORDS[step.type]}
        maxLength={255}
        value={step.name}
        error={faultAt(own, "name")}
        onChange={({ currentTarget }) =>
          editor.edit(nameStep(value, step.id, currentTarget.value), `name of ${step.id}`)
        }
      />
      <Following editor={editor} step={step} onAdd={onAdd} />
      <section className="section">
        <StepNumbers counts={counts} id={step.id} onList={onList} />
      </section>
      {!isTrigger && <Actions editor={editor} step={step} onClose={onClose} />}
      <details className="panel-more">
        <summary>Advanced</summary>
        <StepId
          editor={editor}
          step={step}
          error={faultAt(own, "id")}
          onRenamed={(next) => onOpen(next)}
        />
      </details>
    </div>
  );
}

const END = "";

/** The step after each branch, which can be another one. */
function Following(props: {
  editor: WorkflowEditing;
  step: DraftStep;
  onAdd: (place: WayOut) => void;
}) {
  const { editor, step, onAdd } = props;
  const { value } = editor;
  const branches = branchesOf(step);
  if (branches.length === 0) return null;
  const choices = [{ value: END, label: "The workflow ends here" }, ...stepChoices(editor)];
  function lead(place: WayOut, to: string): void {
    const next = connect(value, place, to === END ? null : to);
    tellLoss(value, next);
    editor.edit(next);
  }
  return (
    <fieldset className="split-form">
      <legend>What follows</legend>
      {branches.map((branch) => {
        const place = { from: step.id, branch };
        const word = wayWord(step, branch);
        return (
          <div key={branch ?? ""} className="following">
            <Select
              label={word === null ? "Continues at" : `“${word}” continues at`}
              data={choices}
              searchable
              allowDeselect={false}
              value={wayAt(value, place)?.to ?? END}
              onChange={(to) => to !== null && lead(place, to)}
            />
            <Button
              variant="default"
              leftSection={<Plus size={14} aria-hidden />}
              aria-label={`Add a step after ${stepName(step)}${word === null ? "" : `, at “${word}”`}`}
              onClick={() => onAdd(place)}
            >
              Add a step
            </Button>
          </div>
        );
      })}
    </fieldset>
  );
}

/** Says which steps an edit has removed with it, because nothing leads to them any more. */
function tellLoss(before: Graph, after: Graph, except = 0): void {
  const count = lostSteps(before, after).length - except;
  if (count <= 0) return;
  showDone(
    `${count} ${count === 1 ? "step that followed was" : "steps that followed were"} removed. Undo brings ${count === 1 ? "it" : "them"} back.`,
  );
}

function Actions(props: { editor: WorkflowEditing; step: DraftStep; onClose: () => void }) {
  const { editor, step, onClose } = props;
  const { value } = editor;
  const [isAsking, setIsAsking] = useState(false);
  const branches = takenBranches(value, step.id);
  const [kept, setKept] = useState<string | null>(branches[0] ?? null);
  const up = moveUp(value, step.id);
  const down = moveDown(value, step.id);

  function remove(branch: string | null): void {
    const next = deleteStep(value, step.id, branch);
    tellLoss(value, next, 1);
    onClose();
    editor.edit(next);
  }

  return (
    <Group gap="xs">
      <Button
        size="xs"
        variant="default"
        leftSection={<ArrowUp size={14} aria-hidden />}
        disabled={up === null}
        onClick={() => up !== null && editor.edit(up)}
      >
        Move up
      </Button>
      <Button
        size="xs"
        variant="default"
        leftSection={<ArrowDown size={14} aria-hidden />}
        disabled={down === null}
        onClick={() => down !== null && editor.edit(down)}
      >
        Move down
      </Button>
      <Button
        size="xs"
        variant="default"
        color="red"
        leftSection={<Trash2 size={14} aria-hidden />}
        onClick={() => (branches.length > 1 ? setIsAsking(true) : remove(branches[0] ?? null))}
      >
        Delete the step
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Delete ${stepName(step)}?`}
        text={
          <Radio.Group
            label="Several ways follow. Which one stays?"
            description="The steps of the others are removed, unless another way leads to them."
            value={kept ?? ""}
            onChange={(branch) => setKept(branch === "" ? null : branch)}
          >
            <Stack gap="xs" mt="xs">
              {branches.map((branch) => (
                <Radio
                  key={branch ?? ""}
                  value={branch ?? ""}
                  label={`${wayWord(step, branch) ?? "On"}: ${targetName(value, { from: step.id, branch })}`}
                />
              ))}
            </Stack>
          </Radio.Group>
        }
        action="Delete the step"
        onConfirm={async () => remove(kept)}
      />
    </Group>
  );
}

function targetName(graph: Graph, place: WayOut): string {
  const to = stepOf(graph, wayAt(graph, place)?.to ?? "");
  return to === undefined
    ? ""
    : [stepName(to), settingsText(to)].filter((text) => text !== "").join(", ");
}

function StepId(props: {
  editor: WorkflowEditing;
  step: DraftStep;
  error: string | undefined;
  onRenamed: (id: string) => void;
}) {
  const { editor, step, error, onRenamed } = props;
  const [typed, setTyped] = useState(step.id);
  const isTaken = typed !== step.id && stepOf(editor.value, typed) !== undefined;
  function rename(): void {
    const next = typed.trim();
    if (isTaken || next === "" || next === step.id) {
      setTyped(step.id);
      return;
    }
    editor.edit(renameId(editor.value, step.id, next));
    onRenamed(next);
  }
  return (
    <TextInput
      label="Id"
      description="Names the step in the interface. Executions under way keep the id of their version."
      maxLength={100}
      spellCheck={false}
      value={typed}
      error={isTaken ? "Another step has this id." : error}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={rename}
      onKeyDown={({ key }) => key === "Enter" && rename()}
    />
  );
}
