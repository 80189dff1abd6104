/** Mails have the same dates in every time zone of the machine. */

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mailstead, startMailstead } from "../support/cli.ts";
import { listAt, stringAt } from "../support/json.ts";

const SUBJECT =
  "{{ birthday | date: '%d %b' }} / {{ due | date: '%d %b' }} / {{ meeting | date: '%H:%M' }}";
const DATA = {
  birthday: "March 8, 2026",
  due: "2026-03-08T00:00:00",
  meeting: "2026-03-29T02:30:00Z",
};

test.each(["UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland"])(
  "in %s",
  async (zone) => {
    const folder = mkdtempSync(join(tmpdir(), "mailstead-zone-"));
    const created = await mailstead(["project", "create", "Shop", "--data", folder, "--json"]);
    const key = stringAt(created.json, "secretKey");
    const words = ["serve", "--data", folder, "--port", "0", "--require-verified-domain", "false"];
    const server = await startMailstead([...words, "--json"], (text) => text.includes("\n"), {
      environment: { TZ: zone },
    });
    const url = stringAt(JSON.parse(server.greeting), "url");
    const call = async (path: string, body?: unknown): Promise<unknown> => {
      const response = await fetch(`${url}${path}`, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const mail = { to: "a@example.net", from: "b@shop.example", body: "<p>Hi</p>" };
    await call("/v1/send", { ...mail, subject: SUBJECT, data: DATA });
    const [sent] = listAt(await call("/emails"), "data.items");
    expect(stringAt(sent, "subject")).toBe("08 Mar / 08 Mar / 02:30");
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  },
);
