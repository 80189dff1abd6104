/** The dialog that suppresses the addresses of a file or a pasted text. The job goes on without it. */

import { Button, Group, Progress, Select, Stack, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { ImportProgress } from "../../../modules/contacts/import/model.ts";
import { api, newIdempotencyKey } from "../../api.ts";
import { useProject } from "../../state.ts";
import { Dialog, useBusyDialog } from "../../ui/dialog.tsx";
import { FileDrop } from "../../ui/file-drop.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Problem } from "../../ui/problem.tsx";
import { hasEnded } from "../contacts/import/counts.ts";
import { CSV_TYPES } from "../contacts/import/upload-step.tsx";
import { type AddressRows, addressRows, faultPlace } from "./address-rows.ts";
import { REASON_OPTIONS } from "./add-dialog.tsx";
import { importLines } from "./import-result.ts";

/** `pasted` are the rows that were made of a pasted text; null for a file. */
type Started = { job: string; pasted: AddressRows | null };
type Props = {
  isOpen: boolean;
  onClose: () => void;
  /** The job ended, so the list has changed. */
  onImported: () => void;
};

const PATH = "/suppressions/import";
/** Jobs send no live messages. */
const LOOK_AGAIN_MS = 700;
const SHOWN_ERRORS = 20;

export function ImportSuppressions({ isOpen, onClose, onImported }: Props) {
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Import suppressions" size="lg">
      <Steps onClose={onClose} onImported={onImported} />
    </Dialog>
  );
}

function Steps({ onClose, onImported }: Omit<Props, "isOpen">) {
  const [started, setStarted] = useState<Started | null>(null);
  if (started === null) return <Upload onClose={onClose} onStarted={setStarted} />;
  const again = () => setStarted(null);
  return <Result {...started} onClose={onClose} onAgain={again} onImported={onImported} />;
}

function Upload(props: { onClose: () => void; onStarted: (started: Started) => void }) {
  const { onClose, onStarted } = props;
  const [reason, setReason] = useState("MANUAL");
  const [text, setText] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const key = useRef(newIdempotencyKey());
  useBusyDialog(isBusy);

  async function send(file: File, pasted: AddressRows | null = null): Promise<void> {
    if (isBusy) return;
    setIsBusy(true);
    setError(null);
    try {
      const form = new FormData();
      form.set("reason", reason);
      form.set("file", file, file.name);
      const idempotencyKey = key.current;
      const { jobId } = await api.upload<{ jobId: string }>(PATH, form, { idempotencyKey });
      onStarted({ job: jobId, pasted });
    } catch (caught) {
      key.current = newIdempotencyKey();
      setError(caught);
    } finally {
      setIsBusy(false);
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const pasted = addressRows(text);
        void send(new File([pasted.rows], "pasted.csv", { type: "text/csv" }), pasted);
      }}
    >
      <Stack gap="md">
        <p className="muted">
          The project sends no more mail to these addresses. Those that are suppressed already keep
          their reason, and no contact is created.
        </p>
        <Select
          label="Reason of rows that name no other"
          data={[...REASON_OPTIONS]}
          allowDeselect={false}
          comboboxProps={{ withinPortal: true }}
          value={reason}
          onChange={(value) => setReason(value ?? "MANUAL")}
        />
        <FileDrop
          label="CSV file"
          title="Drop a CSV file here"
          accept={CSV_TYPES}
          hint="Up to 100 MiB. A column has the addresses; a column such as reason may say why, in the words of other services."
          onFile={(file) => void send(file)}
        />
        <Textarea
          label="Or paste addresses"
          description="One in each line, or rows with the names of the columns in the first."
          placeholder={"ada@example.com\ngrace@example.com"}
          autosize
          minRows={3}
          maxRows={10}
          spellCheck={false}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        {error !== null && <Problem error={error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} disabled={text.trim() === ""}>
            Suppress the pasted addresses
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Result(
  props: Started & {
    onClose: () => void;
    onAgain: () => void;
    onImported: () => void;
  },
) {
  const { job, pasted, onClose, onAgain, onImported } = props;
  const project = useProject()?.id ?? null;
  const query = useQuery({
    queryKey: ["suppression-import", project, job],
    queryFn: ({ signal }) =>
      api.get<ImportProgress>(`${PATH}/${encodeURIComponent(job)}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && hasEnded(state.data) ? false : LOOK_AGAIN_MS,
  });
  const isOver = query.data !== undefined && hasEnded(query.data);
  useEffect(() => {
    if (isOver) onImported();
    // `onImported` is a new function each time.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [isOver]);
  return (
    <Stack gap="md">
      <Loaded query={query} height={80}>
        {(progress) =>
          isOver ? <Ended progress={progress} pasted={pasted} /> : <Running progress={progress} />
        }
      </Loaded>
      <Group justify="flex-end" gap="xs">
        {isOver && (
          <Button variant="default" onClick={onAgain}>
            Import more
          </Button>
        )}
        <Button onClick={onClose}>{isOver ? "Done" : "Close"}</Button>
      </Group>
    </Stack>
  );
}

function Running({ progress: { processed, total } }: { progress: ImportProgress }) {
  return (
    <>
      <Progress
        value={total === null || total === 0 ? 0 : (100 * processed) / total}
        aria-label="Progress of the import"
      />
      <p className="muted" role="status">
        The addresses are being suppressed. This goes on if you close the dialog.
      </p>
    </>
  );
}

function Ended({ progress, pasted }: { progress: ImportProgress; pasted: AddressRows | null }) {
  const { status, errors } = progress;
  const hasFailed = status === "FAILED";
  return (
    <>
      <div role={hasFailed ? "alert" : "status"}>
        {hasFailed && <p>The import stopped.</p>}
        {!(hasFailed && progress.processed === 0) && (
          <ul className="suppression-result">
            {importLines(progress).map((line) => (
              <li key={line}>{line}.</li>
            ))}
          </ul>
        )}
      </div>
      {errors.length > 0 && (
        <ul className="suppression-faults" aria-label="Faults" tabIndex={0}>
          {errors.slice(0, SHOWN_ERRORS).map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              {line !== null && (
                <bdi>{pasted === null ? `Line ${line}` : faultPlace(pasted, line)}: </bdi>
              )}
              {message}
            </li>
          ))}
          {errors.length > SHOWN_ERRORS && <li>And {errors.length - SHOWN_ERRORS} more.</li>}
        </ul>
      )}
    </>
  );
}
