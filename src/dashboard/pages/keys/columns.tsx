/** The columns of the list of API keys. */

import { Button } from "@mantine/core";
import type { ApiKey } from "../../../modules/keys.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { accessWord, requestsOf } from "./access.ts";

const number = new Intl.NumberFormat();
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

export type KeyState = "ACTIVE" | "EXPIRED" | "REVOKED";

export function keyState({ revokedAt, expiresAt }: ApiKey, nowMs: number): KeyState {
  if (revokedAt !== null) return "REVOKED";
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? "EXPIRED" : "ACTIVE";
}

const PREFIXES = { SECRET: "sk_", PUBLIC: "pk_", SMTP: "smtp_" } as const;

/** The beginning and the end of a key; the rest is stored nowhere. */
export const shortKey = ({ kind, last4 }: Pick<ApiKey, "kind" | "last4">): string =>
  `${PREFIXES[kind]}…${last4}`;

type Options = { nowMs: number; onRevoke: (key: ApiKey) => void };

export function keyColumns(options: Options): Column<ApiKey>[] {
  return [
    { key: "name", title: "Name", render: (key) => <Name apiKey={key} /> },
    { key: "access", title: "Access", width: "100px", render: accessWord },
    {
      key: "key",
      title: "Key",
      width: "112px",
      render: (key) => <code className="muted">{shortKey(key)}</code>,
    },
    {
      key: "state",
      title: "State",
      width: "120px",
      render: (key) => <Status value={keyState(key, options.nowMs)} />,
    },
    {
      key: "used",
      title: "Last used",
      width: "104px",
      render: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />,
    },
    {
      key: "requests",
      title: "30 days",
      width: "84px",
      isFigure: true,
      render: (key) => <Requests apiKey={key} />,
    },
    {
      key: "expires",
      title: "Expires",
      width: "116px",
      render: ({ expiresAt }) => <Expiry at={expiresAt} />,
    },
    {
      key: "actions",
      title: "",
      width: "112px",
      isFigure: true,
      render: (key) => <Revoke apiKey={key} {...options} />,
    },
  ];
}

/** The two lines of a row on phones. */
export const keyLines = (options: Options) => (key: ApiKey) => ({
  first: (
    <span className="line">
      <span className="cut">
        <Name apiKey={key} />
      </span>
      {keyState(key, options.nowMs) !== "ACTIVE" && <Status value={keyState(key, options.nowMs)} />}
    </span>
  ),
  second: (
    <span className="line">
      <span className="cut">
        {accessWord(key)} · <code>{shortKey(key)}</code> · <UsedOnPhone at={key.lastUsedAt} />
      </span>
      <Revoke apiKey={key} {...options} />
    </span>
  ),
});

function Name({ apiKey }: { apiKey: ApiKey }) {
  const limits = limitsOf(apiKey);
  return (
    <span title={`${apiKey.name}, created on ${date.format(new Date(apiKey.createdAt))}`}>
      <strong className="key-name">{apiKey.name}</strong>
      {limits.length > 0 && (
        <span className="muted small" title={limits.join("; ")}>
          {" "}
          {limits.join("; ")}
        </span>
      )}
    </span>
  );
}

function limitsOf({ origins, domains, ipRanges }: ApiKey): string[] {
  const sites = origins.map((origin) => origin.replace("https://", ""));
  return [
    ...(sites.length === 0 ? [] : [`only on ${sites.join(", ")}`]),
    ...(domains.length === 0 ? [] : [`only as ${domains.join(", ")}`]),
    ...(ipRanges.length === 0 ? [] : [`only from ${ipRanges.join(", ")}`]),
  ];
}

/** The requests of the latest days; the title has the numbers of each day. */
function Requests({ apiKey }: { apiKey: ApiKey }) {
  const days = apiKey.usage.map(({ date, requests }) => `${date}: ${number.format(requests)}`);
  return (
    <span className={days.length === 0 ? "muted" : undefined} title={days.join("\n")}>
      {number.format(requestsOf(apiKey))}
    </span>
  );
}

function LastUsed({ at }: { at: string | null }) {
  return at === null ? <span className="muted">Never</span> : <Time at={at} isPlain />;
}

function UsedOnPhone({ at }: { at: string | null }) {
  if (at === null) return "never used";
  return (
    <>
      used <Time at={at} isPlain />
    </>
  );
}

function Expiry({ at }: { at: string | null }) {
  return at === null ? <span className="muted">Never</span> : <Time at={at} isPlain />;
}

function Revoke({ apiKey, nowMs, onRevoke }: Options & { apiKey: ApiKey }) {
  if (keyState(apiKey, nowMs) === "REVOKED") return null;
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      color="gray"
      className="key-revoke"
      aria-label={`Revoke ${apiKey.name}`}
      onClick={() => onRevoke(apiKey)}
    >
      Revoke
    </Button>
  );
}
