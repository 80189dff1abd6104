/** The backups of the installation: the last and the next one, the one that is being made, all kept ones. */

import { Button, Progress } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Static } from "@sinclair/typebox";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { KeptBackup, System } from "../../../modules/system/model.ts";
import { api } from "../../api.ts";
import { Copy, CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Problem } from "../../ui/problem.tsx";
import { sizeText } from "../../ui/size-text.ts";
import { Time } from "../../ui/time.tsx";
import { sentenceOf } from "./findings.ts";

type Backup = NonNullable<Static<typeof System>["backup"]>;
type Running = NonNullable<Backup["running"]>;

export function Backups(props: { backup: Backup | null; onStarted: () => void }) {
  const { backup, onStarted } = props;
  const [error, setError] = useState<unknown>(null);
  if (backup === null) {
    return (
      <section className="section card">
        <h2>Backups</h2>
        <p>
          This server makes no backups by itself. Name a folder on another disk, or
          s3://BUCKET/PREFIX, in{" "}
          <Link to="/admin/settings" search={{ q: "backup-to" }}>
            Server settings
          </Link>{" "}
          or with --backup-to.
        </p>
      </section>
    );
  }
  async function runNow(): Promise<void> {
    setError(null);
    try {
      await api.post("/system/backups", {}, { project: null });
    } catch (caught) {
      setError(caught);
    }
    onStarted();
  }
  const { target, keep, running, nextAt, last, failure } = backup;
  return (
    <section className="section card">
      <h2>Backups</h2>
      {error !== null && <Problem error={error} onRetry={() => void runNow()} />}
      {failure !== null && (
        <p className="system-problem">
          The latest backup failed <Time at={failure.at} />: {sentenceOf(failure.error)}{" "}
          {failure.suggestion !== null && sentenceOf(failure.suggestion)}
        </p>
      )}
      {running !== null && <RunningBackup running={running} />}
      <Fields>
        <Field label="Last backup">
          {last === null ? "None yet" : <Time at={last.createdAt} />}
        </Field>
        {last !== null && (
          <Field label="Size">{sizeText(last.bytes)}, encrypted and verified</Field>
        )}
        <Field label="Next backup">
          <Time at={nextAt} as="due" />
        </Field>
        <Field label="Stored in">
          <CopyText value={target} label="Copy the place" />
        </Field>
        <Field label="Kept">{keepText(keep)}</Field>
      </Fields>
      <Button variant="default" loading={running !== null} onClick={() => void runNow()}>
        Run now
      </Button>
      <KeptBackups newest={last?.name ?? ""} />
    </section>
  );
}

const PHASES: Readonly<Record<NonNullable<Running["phase"]>, string>> = {
  copy: "Copying the database",
  encrypt: "Compressing and encrypting",
  verify: "Opening it again, to verify it",
  upload: "Uploading",
  check: "Reading it back, to compare it",
  publish: "Storing its manifest",
  remove: "Removing old backups",
};

function RunningBackup({ running: { phase, bytes, totalBytes } }: { running: Running }) {
  const text = phase === null ? "A backup begins" : PHASES[phase];
  const hasSize = totalBytes !== null && totalBytes > 0;
  return (
    <div className="system-backup-running">
      <p role="status">
        {text}
        {hasSize ? `: ${sizeText(bytes)} of ${sizeText(totalBytes)}` : "…"}
      </p>
      <Progress
        value={hasSize ? Math.min(100, (100 * bytes) / totalBytes) : 100}
        animated={!hasSize}
        aria-label="Progress of the backup"
      />
    </div>
  );
}

/** The newest of each of the last days, weeks and months that have a backup. */
function keepText({ days, weeks, months }: Backup["keep"]): string {
  const parts = [
    days > 0 ? `${days} daily` : "",
    weeks > 0 ? `${weeks} weekly` : "",
    months > 0 ? `${months} monthly` : "",
  ].filter((part) => part !== "");
  return parts.join(", ");
}

/** The list is read again after each backup. */
function KeptBackups({ newest }: { newest: string }) {
  const query = useQuery({
    queryKey: ["system", "backups", newest],
    queryFn: ({ signal }) =>
      api.get<Static<typeof KeptBackup>[]>("/system/backups", { project: null, signal }),
  });
  return (
    <Loaded query={query} height={80}>
      {(backups) =>
        backups.length > 0 && (
          <>
            <h3 className="system-backups-title">Backups that are there</h3>
            <ul className="system-backups">
              {backups.map(({ name, path, contents, fault }) => (
                <li key={name}>
                  <span className="system-backup-text">
                    {contents === null ? (
                      <>
                        <code>{name}</code>
                        <span className="system-problem">Cannot be used: {fault}</span>
                      </>
                    ) : (
                      <>
                        <Time at={contents.createdAt} />
                        <span className="muted">
                          {sizeText(contents.bytes)}, version {contents.version}
                        </span>
                      </>
                    )}
                  </span>
                  <Copy value={path} label="Copy the address for mailstead restore" />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Loaded>
  );
}
