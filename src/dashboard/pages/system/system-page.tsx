/** The state of the installation, for its owners: checks, queue, paused sites, storage, version. */

import "./styles.ts";
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { RefreshCw, ServerOff } from "lucide-react";
import type { Static } from "@sinclair/typebox";
import { useState } from "react";
import type { System } from "../../../modules/system/model.ts";
import { api } from "../../api.ts";
import { startProject, useAppState } from "../../state.ts";
import { AdminTabs } from "../../ui/admin-tabs.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { sizeText } from "../../ui/size-text.ts";
import { Status, type Tone } from "../../ui/status.tsx";
import { Time, useNow } from "../../ui/time.tsx";
import { AlertsCard } from "./alerts-card.tsx";
import { Backups } from "./backups.tsx";
import { agoText, type Finding, findingsText, sentenceOf, sortedFindings } from "./findings.ts";

type SystemState = Static<typeof System>;

/** While the checks or a backup run, their result is asked for again after this time. */
const CHECK_MS = 2_000;
/** The queue is read again after this time, while the page is visible. */
const QUEUE_MS = 5_000;
const STALLED_SECONDS = 60;
const number = new Intl.NumberFormat();

export function SystemPage() {
  const { user } = useAppState();
  if (user?.isOwner !== true) {
    return (
      <Page title="System">
        <Empty
          icon={ServerOff}
          title="This page is for owners of the installation"
          text="It shows the checks, the queue and the storage of the whole server."
        />
      </Page>
    );
  }
  return <SystemForOwner />;
}

function SystemForOwner() {
  const query = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => api.get<SystemState>("/system", { project: null, signal }),
    refetchInterval: ({ state: { data: found } }) =>
      found?.checks.isRunning === true || (found?.backup?.running ?? null) !== null
        ? CHECK_MS
        : QUEUE_MS,
  });
  const { data, error, refetch } = query;
  const [isChecking, setIsChecking] = useState(false);
  // The button does not follow the reading of the queue.
  async function checkAgain(): Promise<void> {
    setIsChecking(true);
    await refetch();
    setIsChecking(false);
  }
  return (
    <Page
      title="System"
      description="The state of this server, for its owners. The checks run at most once a minute."
      tabs={<AdminTabs />}
      actions={
        data !== undefined && (
          <Button
            variant="default"
            leftSection={<RefreshCw size={15} aria-hidden />}
            loading={isChecking}
            onClick={() => void checkAgain()}
          >
            Check again
          </Button>
        )
      }
    >
      {error !== null && data !== undefined && (
        <Problem error={error} onRetry={() => void refetch()} />
      )}
      <Loaded query={query} height={480}>
        {(system) => (
          <div className="system">
            <AlertsCard />
            <Checks checks={system.checks} />
            {system.update !== null && <Update update={system.update} />}
            <Queue system={system} onReleased={() => void refetch()} />
            <Backups backup={system.backup} onStarted={() => void refetch()} />
            <PausedSites sites={system.pausedSites} />
            <Server system={system} />
          </div>
        )}
      </Loaded>
    </Page>
  );
}

const LEVELS: Readonly<Record<Finding["level"], readonly [Tone, string]>> = {
  fail: ["failed", "Problem"],
  warn: ["held", "Warning"],
  ok: ["good", "In order"],
};

function Checks({ checks }: { checks: SystemState["checks"] }) {
  const { checkedAt, isRunning, findings } = checks;
  return (
    <section className="section system-checks">
      <h2>Checks</h2>
      <p role="status" className="muted system-text">
        {checkedAt === null ? (
          "The checks are running…"
        ) : (
          <>
            {findingsText(findings)} Checked <Time at={checkedAt} />
            {isRunning && ", checking again…"}
          </>
        )}
      </p>
      <ul className="system-findings">
        {sortedFindings(findings).map(({ level, what, finding, fix, page }) => {
          const [tone, word] = LEVELS[level];
          return (
            <li key={`${what} ${finding}`} className="system-finding">
              <span className="system-finding-level">
                <Status tone={tone}>{word}</Status>
              </span>
              <div className="system-finding-body">
                <strong>{sentenceOf(what).replace(/\.$/, "")}</strong>
                <p className="muted">{sentenceOf(finding)}</p>
                {fix !== null && (
                  <p>
                    <span className="system-finding-fix">What to do:</span> {sentenceOf(fix)}{" "}
                    {page !== null && level !== "ok" && <PageLink page={page} />}
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

const PAGES = {
  "relay-reports": { to: "/p/$project/relay-reports", label: "Open Relay reports" },
  mailboxes: { to: "/p/$project/relay-reports/mailboxes", label: "Open Mailboxes" },
} as const;

/** The page on which it is done. Without a project there are none of a project. */
function PageLink({ page }: { page: keyof typeof PAGES | "server-settings" }) {
  const { projects } = useAppState();
  const project = startProject(projects);
  if (page === "server-settings") return <Link to="/admin/settings">Open Server settings</Link>;
  if (project === null) return null;
  const { to, label } = PAGES[page];
  return (
    <Link to={to} params={{ project: project.id }}>
      {label}
    </Link>
  );
}

/** Tells that there is a newer version. It is installed by a command on the server, never from here. */
function Update({ update }: { update: NonNullable<SystemState["update"]> }) {
  const { version, changesUrl, command } = update;
  return (
    <section className="section card">
      <h2>Version {version} is available</h2>
      <p className="system-text">
        Read{" "}
        <a href={changesUrl} target="_blank" rel="noopener noreferrer">
          what is new
        </a>
        , and run this command on the server as root. It makes a backup and tries the new version on
        a copy of the database before it installs it.
      </p>
      <CopyText value={command} label="Copy the command" />
    </section>
  );
}

function Queue(props: { system: SystemState; onReleased: () => void }) {
  const { waiting, inProgress, oldestDueAt, stalledSeconds, heldSince } = props.system.queue;
  const isStalled = stalledSeconds > STALLED_SECONDS;
  return (
    <section className="section card">
      <h2>Queue of all projects</h2>
      {isStalled && (
        <p className="system-problem">
          Due mail has not moved for {agoText(stalledSeconds * 1_000)}. Look for errors in the log
          of the server, and restart it if there are none.
        </p>
      )}
      {heldSince !== null && (
        <Hold since={heldSince} {...{ waiting }} onReleased={props.onReleased} />
      )}
      <Fields>
        <Field label="Waiting">{mails(waiting)}</Field>
        <Field label="Being sent">{mails(inProgress)}</Field>
        <Field label="Next due">
          {oldestDueAt === null ? "Nothing is due" : <Time at={oldestDueAt} />}
        </Field>
        <Field label="State">
          {heldSince !== null ? (
            <Status tone="held">Held</Status>
          ) : isStalled ? (
            <Status tone="failed">Does not move</Status>
          ) : (
            <Status tone="good">Moving</Status>
          )}
        </Field>
      </Fields>
    </section>
  );
}

/** Says that the queue is held, and releases it after a question. */
function Hold(props: { since: string; waiting: number; onReleased: () => void }) {
  const { since, waiting, onReleased } = props;
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <p className="system-problem">
        The queue is held since <Time at={since} />: no mail and no webhook leaves. An installation
        that was restored begins so, because mail that waits here may have left after the backup was
        made.
      </p>
      <Button variant="default" onClick={() => setIsAsking(true)}>
        Release the queue
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title="Release the queue?"
        text={`${mails(waiting)} may leave, and webhooks, workflows and campaigns go on. Mail that had left after the backup was made is sent again unless it was cancelled.`}
        action="Release the queue"
        color="brand"
        onConfirm={async () => {
          await api.post("/system/queue/release", {}, { project: null });
          onReleased();
        }}
      />
    </>
  );
}

const mails = (count: number): string =>
  `${number.format(count)} ${count === 1 ? "email" : "emails"}`;

function PausedSites({ sites }: { sites: SystemState["pausedSites"] }) {
  return (
    <section className="section card">
      <h2>Paused sites</h2>
      <p className="muted system-text">
        Receiving sites that asked for a pause, or that refuse all mail of this server at present.
        Their mail waits and is then sent by itself.
      </p>
      {sites.length === 0 ? (
        <p>No site is paused.</p>
      ) : (
        <Fields>
          {sites.map(({ name, until }) => (
            <Field key={name} label={name}>
              until <Time at={until} as="due" />
            </Field>
          ))}
        </Fields>
      )}
    </section>
  );
}

const TRANSPORTS: Readonly<Record<SystemState["transport"], string>> = {
  capture: "Captured: no mail leaves this server",
  relay: "Through a relay",
  direct: "Directly to the servers of the receivers",
};

function Server({ system }: { system: SystemState }) {
  const { version, revision, startedAt, transport, hostname, url, storage } = system;
  const now = useNow();
  const { folder, usedBytes, freeBytes } = storage;
  return (
    <section className="section card">
      <h2>Server</h2>
      <Fields>
        <Field label="Version">
          {version}
          {revision !== "" && <span className="muted"> ({revision})</span>}
        </Field>
        <Field label="Running for">
          {agoText(now - Date.parse(startedAt))}, since <Time at={startedAt} />
        </Field>
        <Field label="Mail leaves">{TRANSPORTS[transport]}</Field>
        <Field label="Host name">{hostname}</Field>
        <Field label="Address in links">{url}</Field>
        <Field label="Data folder">
          {folder === null ? (
            "In memory: all data is lost when the server stops"
          ) : (
            <CopyText value={folder} label="Copy the path" />
          )}
        </Field>
        {usedBytes !== null && <Field label="Used by Mailstead">{sizeText(usedBytes)}</Field>}
        {freeBytes !== null && <Field label="Free on the disk">{sizeText(freeBytes)}</Field>}
      </Fields>
    </section>
  );
}
