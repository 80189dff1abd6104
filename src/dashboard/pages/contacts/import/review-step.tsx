/** The step shows the changes that an import would make, and has all choices about it. */

import { Button, Checkbox, Radio, Select } from "@mantine/core";
import { useRef, useState } from "react";
import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";
import { newIdempotencyKey } from "../../../api.ts";
import { Problem } from "../../../ui/problem.tsx";
import { targetOf } from "./column-targets.ts";
import { amount, hasEnded, resultLines } from "./counts.ts";
import { Mapping } from "./mapping.tsx";
import { Preview } from "./preview.tsx";
import { Questions } from "./questions.tsx";
import { FaultsLink } from "./faults-link.tsx";
import { type ImportOptions, runFile, useOptions } from "./use-import.ts";

type Props = {
  job: ImportProgress;
  onTried: (job: string) => void;
  onStarted: (job: string) => void;
  onRestart: () => void;
};

const number = new Intl.NumberFormat();

export function ReviewStep({ job, onTried, onStarted, onRestart }: Props) {
  const { options, error, isStale, change } = useOptions(job, onTried);
  const { created, updated, unchanged, problems } = job;
  const [failure, setFailure] = useState<unknown>(null);
  const [isStarting, setIsStarting] = useState(false);
  // A double click and a repeated request start one import.
  const key = useRef(newIdempotencyKey());
  const count = created + updated - unchanged;
  const isReady = !isStale && job.status === "COMPLETED" && problems.length === 0 && count > 0;

  async function start(): Promise<void> {
    setIsStarting(true);
    setFailure(null);
    try {
      onStarted(await runFile(job.id, { ...options, dryRun: false }, key.current));
    } catch (caught) {
      key.current = newIdempotencyKey();
      setFailure(caught);
      setIsStarting(false);
    }
  }

  return (
    <div className="import-review">
      <section className="card import-result" aria-labelledby="import-result">
        <div className="import-result-head">
          <h2 id="import-result">{job.fileName === "" ? "Your file" : job.fileName}</h2>
          <Button variant="default" size="xs" onClick={onRestart}>
            Another file
          </Button>
        </div>
        <Result job={job} isStale={isStale} />
        <Left job={job} options={options} onChange={change} />
        {job.status === "COMPLETED" && problems.length === 0 && (
          <NewContacts job={job} options={options} onChange={change} />
        )}
        {error !== null && <Problem error={error} />}
        {failure !== null && <Problem error={failure} />}
        <div className="import-start">
          <Button loading={isStarting} disabled={!isReady} onClick={() => void start()}>
            {count > 0 ? `Import ${amount(count, "contact")}` : "Import"}
          </Button>
          {isStale && (
            <span className="muted small" role="status">
              {job.total === null || job.processed === 0
                ? "Reading the file…"
                : `Comparing with your contacts: ${number.format(job.processed)} of ${number.format(job.total)} rows`}
            </span>
          )}
        </div>
      </section>
      <Questions job={job} options={options} onChange={change} />
      <FileOptions job={job} options={options} onChange={change} />
      <Mapping
        job={job}
        mapping={options.mapping ?? {}}
        onChange={(mapping) => change({ mapping })}
      />
      <Preview job={job} />
    </div>
  );
}

type Part = {
  job: ImportProgress;
  options: ImportOptions;
  onChange: (next: ImportOptions) => void;
};

/** The counts in words, or why there are none. */
function Result({ job, isStale }: { job: ImportProgress; isStale: boolean }) {
  if (job.status === "FAILED") {
    return (
      <div className="problem" role="alert">
        <strong>{job.errors.at(-1)?.message ?? "The file could not be read."}</strong>
      </div>
    );
  }
  const { problems } = job;
  if (problems.length > 0 && job.questions.length < problems.length) {
    return (
      <ul className="import-problems" role="alert">
        {problems.map(({ message }) => (
          <li key={message}>The file {message}.</li>
        ))}
      </ul>
    );
  }
  if (problems.length > 0) {
    return <p>Say below what these columns mean; then you see what the import will do.</p>;
  }
  if (!hasEnded(job)) return null;
  return (
    <ul className="import-counts" aria-busy={isStale} aria-live="polite">
      {resultLines(job).map(({ key, text, tone }) => (
        <li key={key} data-tone={tone}>
          {text}.{key === "failed" && <FaultsLink job={job} />}
        </li>
      ))}
    </ul>
  );
}

/** The people who left, and whether the import subscribes them again. */
function Left({ job, options, onChange }: Part) {
  const { left, keptUnsubscribed, resubscribed, keptOutOfTopics, problems } = job;
  const isAgain = options.resubscribe === true;
  const count = keptUnsubscribed + resubscribed;
  if (problems.length > 0 || (count + keptOutOfTopics === 0 && !isAgain)) return null;
  const rest = count - left.length;
  return (
    <div className="import-left" data-tone={isAgain ? "failed" : "held"}>
      <p>
        <strong>{titleOfLeft(count, isAgain)}</strong>
      </p>
      {left.length > 0 && (
        <details open={isAgain}>
          <summary>Who {count === 1 ? "this is" : "they are"}</summary>
          <ul>
            {left.map(({ line, email }) => (
              <li key={line}>
                {email} <span className="small">(line {number.format(line)})</span>
              </li>
            ))}
            {rest > 0 && <li>and {number.format(rest)} more</li>}
          </ul>
        </details>
      )}
      <Checkbox
        label="Subscribe them again: they asked for it themselves"
        checked={isAgain}
        onChange={({ currentTarget }) => onChange({ resubscribe: currentTarget.checked })}
      />
    </div>
  );
}

/** Without a count the file only names topics that people have left. */
function titleOfLeft(count: number, isAgain: boolean): string {
  if (count === 0 && isAgain) return "People who left a topic will join it again";
  if (count === 0) return "People who left a topic will stay out of it";
  return `${amount(count, "person", "people")} who left will ${isAgain ? "be subscribed again" : "stay unsubscribed"}`;
}

const STANDING_KINDS = new Set(["subscribed", "status", "unsubscribed"]);

/** The choice whether new contacts get marketing mail, where no column says it. */
function NewContacts({ job, options, onChange }: Part) {
  const mapping = options.mapping ?? {};
  const isSaid = job.columns.some((column) => STANDING_KINDS.has(targetOf(column, mapping).kind));
  if (isSaid || job.created === 0) return null;
  return (
    <Radio.Group
      label="New contacts"
      value={options.subscribed === false ? "no" : "yes"}
      onChange={(value) => onChange({ subscribed: value === "yes" })}
    >
      <div className="import-radios">
        <Radio value="yes" label="are subscribed: they agreed to get your mail" />
        <Radio value="no" label="are not subscribed: they get no campaigns" />
      </div>
    </Radio.Group>
  );
}

const ENCODINGS = [
  { value: "utf-8", label: "UTF-8" },
  { value: "windows-1252", label: "Windows-1252, Western Europe" },
  { value: "windows-1250", label: "Windows-1250, Central Europe" },
  { value: "windows-1251", label: "Windows-1251, Cyrillic" },
  { value: "koi8-r", label: "KOI8-R, Cyrillic" },
  { value: "windows-1253", label: "Windows-1253, Greek" },
  { value: "windows-1254", label: "Windows-1254, Turkish" },
  { value: "windows-1255", label: "Windows-1255, Hebrew" },
  { value: "windows-1256", label: "Windows-1256, Arabic" },
  { value: "shift_jis", label: "Shift JIS, Japanese" },
  { value: "euc-jp", label: "EUC-JP, Japanese" },
  { value: "gb18030", label: "GB 18030, Chinese" },
  { value: "big5", label: "Big5, Chinese" },
  { value: "euc-kr", label: "EUC-KR, Korean" },
  { value: "macintosh", label: "Macintosh" },
  { value: "ibm850", label: "IBM 850, DOS" },
  { value: "utf-16le", label: "UTF-16, little endian" },
  { value: "utf-16be", label: "UTF-16, big endian" },
];
const DELIMITERS = [
  { value: "comma", label: "Comma" },
  { value: "semicolon", label: "Semicolon" },
  { value: "tab", label: "Tab" },
  { value: "pipe", label: "Vertical bar" },
] as const;
const DATE_ORDERS = [
  { value: "DMY", label: "Day first: 31.12.2030" },
  { value: "MDY", label: "Month first: 12/31/2030" },
] as const;
const DECIMAL_SEPARATORS = [
  { value: ".", label: "Dot: 1,299.50" },
  { value: ",", label: "Comma: 1.299,50" },
] as const;

/** The value if it is one of the choices. */
const chosen = <T extends string>(choices: readonly { value: T }[], value: string | null) =>
  choices.find((choice) => choice.value === value)?.value;

function FileOptions({ job, options, onChange }: Part) {
  const targets = job.columns.map((column) => targetOf(column, options.mapping ?? {}));
  const has = (type: string) => targets.some((to) => to.kind === "key" && to.type === type);
  const known = ENCODINGS.some(({ value }) => value === job.encoding);
  const encodings = known
    ? ENCODINGS
    : [{ value: job.encoding, label: job.encoding }, ...ENCODINGS];
  const isUnclear = job.problems.some(({ field }) => field === "encoding");
  return (
    <section className="import-options" aria-label="How the file is read">
      <Select
        label="Encoding"
        placeholder="Choose"
        data={encodings}
        value={options.encoding ?? (isUnclear ? null : job.encoding)}
        allowDeselect={false}
        searchable
        onChange={(value) => value !== null && onChange({ encoding: value })}
      />
      <Select
        label="Values are separated by"
        data={DELIMITERS}
        value={options.delimiter ?? job.delimiter}
        allowDeselect={false}
        onChange={(value) => onChange({ delimiter: chosen(DELIMITERS, value) })}
      />
      {has("date") && (
        <Select
          label="Dates"
          placeholder="As recognised"
          data={DATE_ORDERS}
          value={options.dateOrder ?? null}
          clearable
          onChange={(value) => onChange({ dateOrder: chosen(DATE_ORDERS, value) })}
        />
      )}
      {has("number") && (
        <Select
          label="Decimals"
          placeholder="As recognised"
          data={DECIMAL_SEPARATORS}
          value={options.decimalSeparator ?? null}
          clearable
          onChange={(value) => onChange({ decimalSeparator: chosen(DECIMAL_SEPARATORS, value) })}
        />
      )}
    </section>
  );
}
