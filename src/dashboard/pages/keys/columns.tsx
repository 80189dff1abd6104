/** The columns of the list of API keys. */

import { Button } from "@mantine/core";
import type { ApiKey } from "../../../modules/keys.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

export type KeyState = "ACTIVE" | "EXPIRED" | "REVOKED";

export function keyState({ revokedAt, expiresAt }: ApiKey, nowMs: number): KeyState {
  if (revokedAt !== null) return "REVOKED";
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? "EXPIRED" : "ACTIVE";
}

const PREFIXES = { SECRET: "sk_", PUBLIC: "pk_" } as const;

/** The beginning and the end of a key; the rest is stored nowhere. */
export const shortKey = ({ kind, last4 }: Pick<ApiKey, "kind" | "last4">): string =>
  `${PREFIXES[kind]}…${last4}`;

type Options = { nowMs: number; onRevoke: (key: ApiKey) => void };

export function keyColumns(options: Options): Column<ApiKey>[] {
  return [
    { key: "name", title: "Name", render: (key) => <Name apiKey={key} /> },
    { key: "kind", title: "Kind", width: "88px", render: ({ kind }) => kindWord(kind) },
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
      width: "116px",
      render: ({ lastUsedAt }) => <LastUsed at={lastUsedAt} />,
    },
    {
      key: "expires",
      title: "Expires",
      width: "116px",
      render: ({ expiresAt }) => <Expiry at={expiresAt} />,
    },
    {
      key: "created",
      title: "Created",
      width: "112px",
      render: ({ createdAt }) => <Time at={createdAt} isPlain />,
    },
    {
      key: "actions",
      title: "",
      width: "120px",
      isFigure: true,
      render: (key) => <Revoke apiKey={key} {...options} />,
    },
  ];
}

/** The two lines of a row on phones. */
export const keyLines = (options: Options) => (key: ApiKey) => ({
  first: (
    <span className="line">
      <span className="cut">{key.name}</span>
      {keyState(key, options.nowMs) !== "ACTIVE" && <Status value={keyState(key, options.nowMs)} />}
    </span>
  ),
  second: (
    <span className="line">
      <span className="cut">
        {kindWord(key.kind)} · <code>{shortKey(key)}</code> · <UsedOnPhone at={key.lastUsedAt} />
      </span>
      <Revoke apiKey={key} {...options} />
    </span>
  ),
});

const kindWord = (kind: ApiKey["kind"]): string => (kind === "SECRET" ? "Secret" : "Public");

function Name({ apiKey: { name, origins } }: { apiKey: ApiKey }) {
  return (
    <span title={name}>
      <strong className="key-name">{name}</strong>
      {origins.length > 0 && (
        <span className="muted small" title={origins.join(", ")}>
          {" "}
          only on {origins.map((origin) => origin.replace("https://", "")).join(", ")}
        </span>
      )}
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
