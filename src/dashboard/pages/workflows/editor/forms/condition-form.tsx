/** A condition: one with the branches yes and no, or a field whose values choose a branch. */

import { ActionIcon, Button, SegmentedControl, Select } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { isRecord } from "../../../../ui/is-record.ts";
import { ConditionEditor, useCondition } from "../../../segments/builder/condition-editor.tsx";
import { newRow, type Row, toFilter, toRow } from "../../../segments/builder/draft.ts";
import {
  isDataField,
  kindOf,
  OPERATORS_OF,
  WITH_PROPERTY,
} from "../../../segments/builder/operators.ts";
import { FieldSelect, KindSelect, ValueFields } from "../../../segments/builder/row-fields.tsx";
import { type FieldChoices, useFields } from "../../../segments/builder/use-fields.ts";
import { branchIds, type Config } from "../draft.ts";
import { BranchName } from "./branch-name.tsx";
import { type FormProps, textAt } from "./form-props.ts";

export function ConditionForm(props: FormProps) {
  const { step, project, onChange } = props;
  const { config } = step;
  const own = useFields(project);
  const fields = useMemo(() => ({ ...own, hasContext: true }), [own]);
  const isMulti = Array.isArray(config["branches"]);

  function choose(mode: string): void {
    if ((mode === "MULTI") === isMulti) return;
    if (mode === "MULTI") {
      const branches = [{ id: FIRST_BRANCH, operator: "" }];
      const renames = { yes: FIRST_BRANCH, no: "default" };
      onChange({ mode: "multi", field: "", branches }, renames);
    } else {
      const [first] = branchIds(config);
      onChange({ condition: null }, { ...(first && { [first]: "yes" }), default: "no" });
    }
  }

  return (
    <>
      <SegmentedControl
        aria-label="Kind of the condition"
        value={isMulti ? "MULTI" : "WHOLE"}
        data={[
          { value: "WHOLE", label: "Yes or no" },
          { value: "MULTI", label: "Several branches" },
        ]}
        onChange={choose}
      />
      {isMulti ? <Branches {...props} fields={fields} /> : <Whole {...props} fields={fields} />}
    </>
  );
}

const FIRST_BRANCH = "first";

/** Entries that are not complete, by the settings that have no condition for them. */
const entries = new WeakMap<Config, unknown>();

/** The condition of settings; a single test becomes a condition of one filter. */
function wholeCondition(config: Config): unknown {
  const condition = config["condition"] ?? null;
  if (condition !== null || textAt(config, "field") === "") return condition;
  return { logic: "AND", groups: [{ filters: [config] }] };
}

function Whole({ step, fault, onChange, fields }: FormProps & { fields: FieldChoices }) {
  const { config } = step;
  const editor = useCondition(wholeCondition(config), entries.get(config));
  const { condition, entry } = editor;
  const text = JSON.stringify(condition);
  const last = useRef(text);
  useEffect(() => {
    if (text === last.current) return;
    last.current = text;
    onChange({ condition });
  }, [text]);
  useEffect(() => {
    if (condition === null) entries.set(config, entry);
  });
  const found = fault("config");
  return (
    <>
      <ConditionEditor editor={editor} fields={fields} />
      {found !== undefined && (
        <p className="field-fault" role="alert">
          {condition === null ? "Complete the condition." : found}
        </p>
      )}
    </>
  );
}

type BranchDraft = { id: string; row: Row };

function readBranches(config: Config): BranchDraft[] {
  const field = textAt(config, "field");
  const given: unknown = config["branches"];
  return (Array.isArray(given) ? given.filter(isRecord) : []).map((branch) => {
    const { operator, value, unit } = branch;
    const known = {
      field,
      operator: typeof operator === "string" ? operator : "",
      value,
      ...(typeof unit === "string" ? { unit } : {}),
    };
    const row = toRow(known) ?? { ...newRow(), field, operator: known.operator };
    return { id: textAt(branch, "id"), row };
  });
}

function Branches({ step, fault, onChange, fields }: FormProps & { fields: FieldChoices }) {
  const { config } = step;
  const [field, setField] = useState(() => textAt(config, "field"));
  const [branches, setBranches] = useState(() => readBranches(config));
  const [dataKind, setDataKind] = useState(branches[0]?.row.dataKind ?? "text");
  const kind = kindOf(field, dataKind);
  const operators =
    kind === null ? [] : OPERATORS_OF[kind].filter(({ value }) => value !== WITH_PROPERTY);

  function change(next: readonly BranchDraft[], of = field, renames = {}): void {
    setBranches([...next]);
    setField(of);
    const stored = next.map(({ id, row }) => {
      const { field: _, ...test } = toFilter({ ...row, field: of }) ?? {
        field: of,
        operator: row.operator,
      };
      return { id, ...test };
    });
    onChange({ mode: "multi", field: of, branches: stored }, renames);
  }
  const replace = (i: number, part: Partial<Row>) =>
    change(
      branches.map((each, k) => (k === i ? { ...each, row: { ...each.row, ...part } } : each)),
    );
  /** Another field or type has other operators. */
  function reset(of: string, type: typeof dataKind): void {
    const known = kindOf(of, type);
    const operator = known === null ? "" : (OPERATORS_OF[known][0]?.value ?? "");
    setDataKind(type);
    change(
      branches.map(({ id }) => ({ id, row: { ...newRow(), field: of, dataKind: type, operator } })),
      of,
    );
  }
  function add(): void {
    const taken = new Set(branches.map(({ id }) => id));
    let number = branches.length + 1;
    while (taken.has(`branch ${number}`)) number++;
    const row = { ...newRow(), field, dataKind, operator: operators[0]?.value ?? "" };
    change([...branches, { id: `branch ${number}`, row }]);
  }

  return (
    <fieldset className="split-form">
      <legend>The first branch that fits is taken, otherwise “Otherwise”</legend>
      <div className="builder-cells">
        <FieldSelect
          label="Field"
          value={field}
          fields={fields}
          marks={markOf(fault("config.field"))}
          isAdded={false}
          onChange={(of) => reset(of, fields.dataKinds.get(of) ?? "text")}
        />
        {isDataField(field) && (
          <KindSelect label="the field" value={dataKind} onChange={(type) => reset(field, type)} />
        )}
      </div>
      {branches.map(({ id, row }, i) => {
        const label = `branch ${i + 1}`;
        return (
          <div key={i} className="branch-row" role="group" aria-label={`Branch ${i + 1}`}>
            <div className="split-row">
              <BranchName
                label={`Name of ${label}`}
                value={id}
                others={["default", ...branches.flatMap((each, k) => (k === i ? [] : each.id))]}
                error={fault(`config.branches.${i}.id`)}
                onChange={(next) =>
                  change(
                    branches.map((each, k) => (k === i ? { ...each, id: next } : each)),
                    field,
                    { [id]: next },
                  )
                }
              />
              <ActionIcon
                aria-label={`Remove ${label}`}
                disabled={branches.length === 1}
                onClick={() => change(branches.filter((_, k) => k !== i))}
              >
                <Trash2 size={15} aria-hidden />
              </ActionIcon>
            </div>
            <div className="builder-cells">
              <Select
                size="sm"
                className="builder-operator"
                aria-label={`Operator of ${label}`}
                data={operators.map(({ value, label: text }) => ({ value, label: text }))}
                value={row.operator === "" ? null : row.operator}
                placeholder="…"
                disabled={kind === null}
                allowDeselect={false}
                onChange={(operator) => operator !== null && replace(i, { operator })}
              />
              <ValueFields
                row={{ ...row, field, dataKind }}
                label={label}
                marks={markOf(fault(`config.branches.${i}`))}
                onChange={(part) => replace(i, part)}
              />
            </div>
          </div>
        );
      })}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={add}
      >
        Add a branch
      </Button>
    </fieldset>
  );
}

const markOf = (error: string | undefined): { error?: string } =>
  error === undefined ? {} : { error };
