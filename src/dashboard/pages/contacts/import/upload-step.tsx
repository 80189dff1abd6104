/** Takes a file that is dropped or chosen, or a pasted text, and uploads it to be tried. */

import { Button, Textarea } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { FileDrop } from "../../../ui/file-drop.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { sizeText } from "../../../ui/size-text.ts";
import { uploadFile } from "./use-import.ts";

/** Types of files that the browser offers to choose. */
export const CSV_TYPES = ".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain";
const MAX_BYTES = 100 * 1024 * 1024;
const SERVICES = "Mailchimp, listmonk, Plunk, Resend, SendGrid and Brevo";

export function UploadStep({ onUploaded }: { onUploaded: (job: string) => void }) {
  const [pasted, setPasted] = useState<string | null>(null);
  const { file, error, send, stop } = useUpload(onUploaded);

  if (file !== null) {
    return (
      <div className="file-drop" role="status">
        <progress aria-label="Upload" />
        <p>
          Uploading {file.name} ({sizeText(file.size)})…
        </p>
        <Button variant="default" size="xs" onClick={stop}>
          Stop
        </Button>
      </div>
    );
  }
  return (
    <div className="import-upload">
      {error !== null && <Problem error={error} />}
      <FileDrop
        label="CSV file"
        title="Drop a CSV file here"
        accept={CSV_TYPES}
        hint={
          <>
            Up to 100 MiB. The first line has the names of the columns. Exports of {SERVICES} are
            read as they are. Nothing is stored before you have seen what will happen.
          </>
        }
        onFile={(file) => void send(file)}
      />
      {pasted === null ? (
        <Button variant="subtle" size="compact-sm" onClick={() => setPasted("")}>
          Paste rows instead
        </Button>
      ) : (
        <form
          className="import-paste"
          onSubmit={(event) => {
            event.preventDefault();
            void send(new File([pasted], "pasted.csv", { type: "text/csv" }));
          }}
        >
          <Textarea
            label="Rows, with the names of the columns in the first"
            placeholder={"email,name\nada@example.com,Ada"}
            autosize
            minRows={6}
            maxRows={16}
            autoFocus
            className="import-paste-text"
            value={pasted}
            onChange={({ currentTarget }) => setPasted(currentTarget.value)}
          />
          <Button type="submit" disabled={pasted.trim() === ""}>
            Continue
          </Button>
        </form>
      )}
    </div>
  );
}

/** Uploads one file at a time. */
function useUpload(onUploaded: (job: string) => void) {
  const [file, setFile] = useState<File | null>(null);
  const [error, setError] = useState<unknown>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  async function send(chosen: File): Promise<void> {
    setError(null);
    if (chosen.size > MAX_BYTES) {
      setError(new Error(`The file has ${sizeText(chosen.size)}; an import takes up to 100 MiB.`));
      return;
    }
    const current = new AbortController();
    controller.current = current;
    setFile(chosen);
    try {
      onUploaded(await uploadFile(chosen, current.signal));
    } catch (caught) {
      if (!current.signal.aborted) setError(caught);
    } finally {
      setFile(null);
    }
  }

  return { file, error, send, stop: () => controller.current?.abort() };
}
