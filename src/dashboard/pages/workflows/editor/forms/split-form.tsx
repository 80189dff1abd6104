/** The branches of an A/B split with their weights. */

import { ActionIcon, Button, NumberInput } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { isRecord } from "../../../../ui/is-record.ts";
import { weightText } from "../../step-texts.ts";
import { BranchName } from "./branch-name.tsx";
import { type FormProps, numberAt, textAt } from "./form-props.ts";

const MOST = 10;
const LETTERS = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];

export function SplitForm({ step, fault, onChange }: FormProps) {
  const { config } = step;
  const given: unknown = config["branches"];
  const branches = Array.isArray(given) ? given.filter(isRecord) : [];
  const total = branches.reduce((sum, branch) => sum + Number(numberAt(branch, "weight")), 0);
  const set = (next: readonly object[], renames?: Record<string, string>) =>
    onChange({ ...config, branches: next }, renames);
  const replace = (i: number, change: object, renames?: Record<string, string>) =>
    set(
      branches.map((branch, k) => (k === i ? { ...branch, ...change } : branch)),
      renames,
    );

  function add(): void {
    const taken = new Set(branches.map((branch) => branch["id"]));
    const later = [...LETTERS.slice(branches.length), ...LETTERS];
    const id = later.find((letter) => !taken.has(letter)) ?? `Branch ${branches.length + 1}`;
    set([...branches, { id, weight: 50 }]);
  }

  return (
    <fieldset className="split-form">
      <legend>Branches</legend>
      <p className="muted small">
        Each contact takes one of them by chance, and the same one when it comes again.
      </p>
      {branches.map((branch, i) => {
        const id = textAt(branch, "id");
        const at = `branch ${i + 1}`;
        return (
          <div key={i} className="split-row" role="group" aria-label={`Branch ${i + 1}`}>
            <BranchName
              label={`Name of ${at}`}
              value={id}
              others={branches.flatMap((other, k) => (k === i ? [] : textAt(other, "id")))}
              error={fault(`config.branches.${i}.id`)}
              onChange={(next) => replace(i, { id: next }, { [id]: next })}
            />
            <NumberInput
              aria-label={`Weight of ${at}`}
              className="split-weight"
              min={1}
              max={100}
              allowDecimal={false}
              value={numberAt(branch, "weight")}
              error={fault(`config.branches.${i}.weight`)}
              onChange={(weight) => replace(i, { weight: weight === "" ? null : weight })}
            />
            <span className="muted small figures split-share">
              {weightText(Number(numberAt(branch, "weight")), total)}
            </span>
            <ActionIcon
              aria-label={`Remove ${at}`}
              disabled={branches.length <= 2}
              onClick={() => set(branches.filter((_, k) => k !== i))}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </div>
        );
      })}
      {fault("config.branches") !== undefined && (
        <p className="field-fault" role="alert">
          {fault("config.branches")}
        </p>
      )}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<Plus size={14} aria-hidden />}
        disabled={branches.length >= MOST}
        onClick={add}
      >
        Add a branch
      </Button>
    </fieldset>
  );
}
