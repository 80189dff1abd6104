/** The limits on docs/security.md are those of the code, and the systemd unit says what the page says. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SETTINGS } from "../../src/config/settings.ts";
import {
  BODY_LIMITS,
  type BodyLimit,
  MAX_IMPORT_BYTES,
  sizeText,
} from "../../src/http/body-limits.ts";
import { DEEPEST_NESTING } from "../../src/lib/nesting.ts";
import { RENDER_LIMIT_MS } from "../../src/render/template/limits.ts";

const ROOT = join(import.meta.dir, "../..");
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const page = read("docs/security.md");
const unit = read("packaging/mailstead.service");

/** The rows of the table of limits, as `limit: value`. */
const rows = (page.split("## Limits")[1]?.split("\n## ")[0] ?? "")
  .split("\n")
  .filter((line) => line.startsWith("| "))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, limit, value]) => `${limit}: ${value}`);

const ofBody = ({ bytes, values }: BodyLimit) => `${sizeText(bytes)} and ${values} JSON values`;
const setting = (name: keyof typeof SETTINGS, unitOf = "") =>
  `\`--${SETTINGS[name].flag}\`, ${SETTINGS[name].shownDefault}${unitOf}`;
const largestOfOthers = Math.max(
  ...Object.entries(BODY_LIMITS)
    .filter(([name]) => name !== "send" && name !== "track")
    .map(([, { bytes }]) => bytes),
);

const expected: [limit: string, value: string][] = [
  ["body of `/v1/track`", ofBody(BODY_LIMITS.track)],
  ["body of `/v1/send`", ofBody(BODY_LIMITS.send)],
  ["body of an import", `${sizeText(MAX_IMPORT_BYTES)}, written to disk as it arrives`],
  ["body of any other route", `at most ${sizeText(largestOfOthers)}; `],
  ["nesting of JSON", `${DEEPEST_NESTING} levels`],
  ["requests a minute and project, secret keys", setting("apiRate")],
  ["requests a minute and project, public keys", setting("publicKeyRate")],
  ["requests a minute and client address, public keys", setting("publicClientRate")],
  ["requests a minute and user of the dashboard", setting("userRate")],
  ["data of a project", setting("quotaStorage", " MiB")],
  ["queued mails of a project, besides campaigns", setting("quotaQueuedMails")],
  ["imports, exports and bulk actions of a project at once", setting("quotaJobs")],
  ["webhook calls of a project at once", setting("quotaWebhookCalls")],
  ["rendering for one request", `${RENDER_LIMIT_MS / 1000} s in total`],
];

describe("docs/security.md", () => {
  for (const [limit, value] of expected) {
    test(`tells the limit of: ${limit}`, () => {
      const row = rows.find((each) => each.startsWith(`${limit}: `));
      expect(row).toStartWith(`${limit}: ${value}`);
    });
  }

  test("tells limits of the systemd unit as the unit has them", () => {
    for (const line of ["MemoryMax=1G", "LimitNOFILE=16384"]) {
      expect(unit).toContain(`\n${line}\n`);
      expect(page).toContain(`\`${line}\``);
    }
  });
});

describe("packaging/mailstead.service", () => {
  test("confines the server", () => {
    for (const line of [
      "User=mailstead",
      "NoNewPrivileges=yes",
      "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
      "AmbientCapabilities=CAP_NET_BIND_SERVICE",
      "ProtectSystem=strict",
      "StateDirectory=mailstead",
      "Restart=on-failure",
    ]) {
      expect(unit).toContain(`\n${line}\n`);
    }
  });

  test("names settings that exist", () => {
    const named = [...unit.matchAll(/MAILSTEAD_[A-Z_]+/g)].map(([name]) =>
      name.replace(/_FILE$/, ""),
    );
    const known = new Set(Object.values(SETTINGS).map(({ env }) => env));
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test.skipIf(Bun.which("systemd-analyze") === null)("is understood by systemd", () => {
    const file = join(ROOT, "packaging/mailstead.service");
    const ran = Bun.spawnSync(["systemd-analyze", "verify", "--recursive-errors=no", file]);
    // The executable is not installed where tests run.
    const faults = ran.stderr
      .toString()
      .split("\n")
      .filter((line) => !/is not executable|^$/.test(line));
    expect(faults).toEqual([]);
  });
});

describe("the README and docs/", () => {
  const pages = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)];
  for (const name of pages.filter((each) => each.endsWith(".md"))) {
    test(`${name} gives no secret on a command line or in a plain variable`, () => {
      const withSecret = read(name)
        .split("\n")
        .filter((line) =>
          /--(relay-url|secret)[ =]['"]?(?!URL\b|TEXT\b)[^\s|`]+|MAILSTEAD_(RELAY_URL|SECRET)=/.test(
            line,
          ),
        );
      expect(withSecret).toEqual([]);
    });
  }
});
