/** The alerts of the installation: those that are open, the earlier ones, and who is told of them. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Static } from "@sinclair/typebox";
import { useState } from "react";
import type { Alerts, AlertTests } from "../../../modules/alerts/model.ts";
import { api } from "../../api.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status, type Tone } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { sentenceOf } from "./findings.ts";

type AlertsState = Static<typeof Alerts>;
type Alert = AlertsState["open"][number];
type Target = AlertsState["targets"][number];
type Tests = Static<typeof AlertTests>;

/** Alerts are examined once a minute. */
const INTERVAL_MS = 30_000;
/** Earlier alerts that are shown before the others are asked for. */
const SHOWN_HISTORY = 5;

const SEVERITIES: Readonly<Record<Alert["severity"], readonly [Tone, string]>> = {
  critical: ["failed", "Critical"],
  warning: ["held", "Warning"],
  info: ["seen", "Note"],
};

const KINDS: Readonly<Record<Target["kind"], string>> = {
  EMAIL: "Mail",
  WEBHOOK: "Webhook",
  NTFY: "ntfy",
  SLACK: "Slack",
};

export function AlertsCard() {
  const query = useQuery({
    queryKey: ["system", "alerts"],
    queryFn: ({ signal }) => api.get<AlertsState>("/system/alerts", { project: null, signal }),
    refetchInterval: INTERVAL_MS,
  });
  return (
    <section className="section card">
      <h2>Alerts</h2>
      <Loaded query={query} height={160}>
        {(alerts) => (
          <>
            <OpenAlerts alerts={alerts.open} />
            <Targets alerts={alerts} />
            <History alerts={alerts.history} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function OpenAlerts({ alerts }: { alerts: readonly Alert[] }) {
  if (alerts.length === 0) return <p>No alert is open.</p>;
  return (
    <ul className="system-alerts">
      {alerts.map(({ id, severity, title, finding, fix, raisedAt }) => {
        const [tone, word] = SEVERITIES[severity];
        return (
          <li key={id} className="system-finding">
            <span className="system-finding-level">
              <Status tone={tone}>{word}</Status>
            </span>
            <div className="system-finding-body">
              <strong>{title}</strong>
              <p className="muted">
                {sentenceOf(finding)} Raised <Time at={raisedAt} />.
              </p>
              <p>
                <span className="system-finding-fix">What to do:</span> {fix}
              </p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function Targets({ alerts: { targets, heartbeat } }: { alerts: AlertsState }) {
  const [tests, setTests] = useState<Tests["targets"]>([]);
  const [error, setError] = useState<unknown>(null);
  const [isTesting, setIsTesting] = useState(false);

  async function sendTest(): Promise<void> {
    setError(null);
    setTests([]);
    setIsTesting(true);
    try {
      const answer = await api.post<Tests>("/system/alerts/test", {}, { project: null });
      setTests(answer.targets);
    } catch (caught) {
      setError(caught);
    } finally {
      setIsTesting(false);
    }
  }

  const testOf = ({ kind, label }: Target) =>
    tests.find((test) => test.kind === kind && test.label === label);

  return (
    <>
      <h3 className="system-subject">Who is told</h3>
      {targets.length === 0 ? (
        <p>
          Nobody: alerts are only shown here. Set an address, a webhook, a topic of ntfy or Slack in
          the <Link to="/admin/settings">settings of the server</Link>.
        </p>
      ) : (
        <Fields>
          {targets.map((target) => (
            <Field key={`${target.kind} ${target.label}`} label={KINDS[target.kind]}>
              {target.label}
              <TargetState target={target} test={testOf(target)} />
            </Field>
          ))}
          {heartbeat !== null && <Heartbeat heartbeat={heartbeat} />}
        </Fields>
      )}
      {targets.length === 0 && heartbeat !== null && (
        <Fields>
          <Heartbeat heartbeat={heartbeat} />
        </Fields>
      )}
      {error !== null && <Problem error={error} onRetry={() => void sendTest()} />}
      {targets.length > 0 && (
        <Button variant="default" loading={isTesting} onClick={() => void sendTest()}>
          Send a test
        </Button>
      )}
    </>
  );
}

/** The outcome of the test, or of the latest alert. */
function TargetState(props: { target: Target; test: Tests["targets"][number] | undefined }) {
  const { target, test } = props;
  const { last, waiting } = target;
  if (test !== undefined) {
    return (
      <p role="status" className="system-target">
        <Status tone={test.isDelivered ? "good" : "failed"}>
          {test.isDelivered ? "Test taken" : "Test failed"}
        </Status>{" "}
        <span className="muted">{test.reply}</span>
      </p>
    );
  }
  if (last === null) return <p className="system-target muted">Was told nothing yet</p>;
  return (
    <p className="system-target">
      <Status tone={last.isDelivered ? "good" : "failed"}>
        {last.isDelivered ? "Told" : "Failed"}
      </Status>{" "}
      <span className="muted">
        <Time at={last.at} />
        {last.reply !== null && `: ${last.reply}`}
        {waiting > 0 && ` (${waiting} waiting)`}
      </span>
    </p>
  );
}

function Heartbeat({ heartbeat }: { heartbeat: NonNullable<AlertsState["heartbeat"]> }) {
  const { label, everyMinutes, at, failure } = heartbeat;
  return (
    <Field label="Heartbeat">
      {label}, every {everyMinutes === 1 ? "minute" : `${everyMinutes} minutes`}
      {at !== null && (
        <p className="system-target">
          <Status tone={failure === null ? "good" : "failed"}>
            {failure === null ? "Beats" : "Does not beat"}
          </Status>{" "}
          <span className="muted">
            <Time at={at} />
            {failure !== null && `: ${failure}`}
          </span>
        </p>
      )}
    </Field>
  );
}

function History({ alerts }: { alerts: readonly Alert[] }) {
  const [isWhole, setIsWhole] = useState(false);
  if (alerts.length === 0) return null;
  const shown = isWhole ? alerts : alerts.slice(0, SHOWN_HISTORY);
  return (
    <>
      <h3 className="system-subject">The last 30 days</h3>
      <ul className="system-history">
        {shown.map(({ id, title, raisedAt, clearedAt }) => (
          <li key={id}>
            {title}{" "}
            <span className="muted">
              raised <Time at={raisedAt} />
              {clearedAt !== null && (
                <>
                  , solved <Time at={clearedAt} />
                </>
              )}
            </span>
          </li>
        ))}
      </ul>
      {shown.length < alerts.length && (
        <Button variant="default" size="compact-sm" mt={6} onClick={() => setIsWhole(true)}>
          Show all {alerts.length}
        </Button>
      )}
    </>
  );
}
