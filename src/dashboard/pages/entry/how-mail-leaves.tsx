import { Skeleton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Static } from "@sinclair/typebox";
import type { System } from "../../../modules/system/model.ts";
import { api } from "../../api.ts";
import { useAppState } from "../../state.ts";
import { Problem } from "../../ui/problem.tsx";
import { relayFacts } from "../../ui/relay.ts";
import { sentence, withCapital } from "../../ui/sentence.ts";
import { Status, type Tone } from "../../ui/status.tsx";

const TEXTS: Readonly<Record<string, string>> = {
  capture: "This server catches mail: it is stored and shown here, and nothing is sent.",
  relay: "This server sends through the SMTP relay",
  direct: "This server delivers directly to the mail servers of the recipients.",
};

const LEVELS: Readonly<Record<string, readonly [Tone, string]>> = {
  ok: ["good", "Fine"],
  warn: ["held", "Warning"],
  fail: ["failed", "Fault"],
};

const WAIT_MS = 1_000;

/** The transport, and what the checks of `mailstead doctor` found, faults first. */
export function HowMailLeaves() {
  const { transport, relay, dev } = useAppState();
  const { data, error } = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => api.get<Static<typeof System>>("/system", { project: null, signal }),
    refetchInterval: ({ state }) => (state.data?.checks.isRunning === true ? WAIT_MS : false),
  });
  const findings = data?.checks.findings ?? [];
  // The next step is about the domain, and the sentence above about the transport.
  const important = findings.filter(
    ({ level, what }) => level !== "ok" && what !== "transport" && !/^domains?\b/.test(what),
  );
  return (
    <>
      <p className="muted">
        {TEXTS[transport] ?? transport}
        {transport === "relay" && ` ${relay?.name ?? "of --relay-url"}.`}{" "}
        {!dev && (
          <Link to="/admin/settings">
            {transport === "capture" ? "Set up a relay or direct delivery" : "Change it"}
          </Link>
        )}
      </p>
      {relay !== null && (
        <ul className="rows findings">
          {/* The findings say what it needs. */}
          {relayFacts({ ...relay, needs: "" }).map(([label, text]) => (
            <li key={label}>
              <div className="rows-text">
                <strong>{label}</strong> {text}
              </div>
            </li>
          ))}
        </ul>
      )}
      {error !== null && <Problem error={error} />}
      {data?.checks.isRunning === true && findings.length === 0 && <Skeleton height={40} mt="md" />}
      <ul className="rows findings">
        {important.map(({ level, what, finding, fix }) => {
          const [tone, word] = LEVELS[level] ?? ["waiting", level];
          return (
            <li key={what}>
              <div className="rows-text">
                <strong>{withCapital(what)}</strong> {sentence(finding)}
                {fix !== null && <div className="muted small">{sentence(fix)}</div>}
              </div>
              <Status tone={tone}>{word}</Status>
            </li>
          );
        })}
      </ul>
      {findings.length > 0 && important.length === 0 && (
        <p className="findings">
          <Status tone="good">All {findings.length} checks are fine</Status>
        </p>
      )}
    </>
  );
}
