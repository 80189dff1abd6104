import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestApp, testApp } from "../support/app.ts";

const FOLDER = join(import.meta.dir, "../../docs");
const NAMES = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterAll(() => t.close());

const get = (path: string) => t.call("GET", path, undefined, { key: null });

describe("the documentation as Markdown", () => {
  test("has every page of docs/, unchanged and without a key", async () => {
    expect(NAMES.length).toBeGreaterThan(20);
    for (const name of NAMES) {
      const { status, headers, body } = await get(`/docs/${name}`);
      expect([name, status]).toEqual([name, 200]);
      expect(headers.get("content-type")).toBe("text/markdown; charset=utf-8");
      expect(body).toBe(readFileSync(join(FOLDER, name), "utf8"));
    }
  });

  test("lists every page in /llms.txt with its title and one line about it", async () => {
    const { status, headers, body } = await get("/llms.txt");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/plain; charset=utf-8");
    const text = String(body);
    expect(text).toStartWith("# Mailstead\n\n> ");
    const links = [...text.matchAll(/^- \[(.+)\]\(\/docs\/(.+)\): (.+)$/gm)];
    expect(links.map(([, , name]) => name)).toEqual(NAMES.toSorted());
    for (const [, title = "", , summary = ""] of links) {
      expect(title).not.toContain("#");
      expect(summary).toMatch(/^[A-Z`[\x5d].*\w.*[.:]$/);
    }
  });

  test("refuses other names", async () => {
    for (const name of ["nothing.md", "..%2FREADME.md", "pictures", "SENDING.MD"]) {
      const { status, text } = await get(`/docs/${name}`);
      expect([name, status]).toEqual([name, 404]);
      expect(text("error.code")).toBe("ROUTE_NOT_FOUND");
    }
  });
});
