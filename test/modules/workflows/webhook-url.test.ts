/** Tests values in the URL of a WEBHOOK step: each fills one component and changes no other. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Automation, startAutomation, type TestExecution } from "../../support/automation.ts";
import { startWebServer, type WebServer } from "../../support/web-server.ts";
import { step, trigger, transition } from "./graphs.ts";

let a: Automation;
let server: WebServer;
beforeAll(async () => {
  server = await startWebServer();
  a = await startAutomation();
});
afterAll(async () => {
  await a.close();
  await server.close();
});

let count = 0;

/** Runs a workflow that calls this URL; `HOST` stands for the host and port of the receiver. */
async function call(
  url: string,
  data: Record<string, unknown>,
): Promise<[TestExecution, string[]]> {
  const event = `called-${++count}`;
  const config = { url: url.replaceAll("HOST", `127.0.0.1:${server.port}`), method: "GET" };
  const id = await a.workflow({
    steps: [trigger(event), step("call", "WEBHOOK", config)],
    transitions: [transition("start>call")],
  });
  server.requests = [];
  await a.track(event, data, `ada${count}@example.net`);
  return [await a.only(id), server.requests.map(({ path }) => path)];
}

async function expectPath(url: string, data: Record<string, unknown>, path: string) {
  const [execution, paths] = await call(url, data);
  expect([execution.error, execution.status, paths]).toEqual([null, "COMPLETED", [path]]);
}

async function expectNoCall(url: string, data: Record<string, unknown>, reason: RegExp) {
  const [execution, paths] = await call(url, data);
  expect([execution.status, paths]).toEqual(["FAILED", []]);
  expect(execution.error ?? "").toMatch(reason);
}

describe("a value is percent-encoded as one component", () => {
  const done = (value: unknown) => ({ user: value });
  const paths: [what: string, value: unknown, segment: string][] = [
    ["a word", "ada", "ada"],
    ["a number", 7, "7"],
    ["unreserved characters", "a-b_c.d~e", "a-b_c.d~e"],
    ["another path", "../../admin/delete", "..%2F..%2Fadmin%2Fdelete"],
    ["a backslash", "..\\admin", "..%5Cadmin"],
    ["a query", "x?role=admin&a=b", "x%3Frole%3Dadmin%26a%3Db"],
    ["a fragment", "x#y", "x%23y"],
    ["a path parameter", "x;admin=1", "x%3Badmin%3D1"],
    ["sub-delimiters", "!$&'()*+,;=:@", "%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40"],
    ["a blank", " a b ", "%20a%20b%20"],
    ["a tab and line breaks", "a\t\r\nb", "a%09%0D%0Ab"],
    ["a percent sign", "50%2F", "50%252F"],
    ["letters of other scripts", "é名", "%C3%A9%E5%90%8D"],
    ["dots within a segment", "a..", "a.."],
    ["three dots", "...", "..."],
    ["an object", { a: 1 }, "%7B%22a%22%3A1%7D"],
    ["a list", ["a", "/", "b"], "a%2Fb"],
  ];

  test.each(paths)("%s in the path", async (_, value, segment) => {
    await expectPath(
      "http://HOST/users/{{ context.user }}/done",
      done(value),
      `/users/${segment}/done`,
    );
  });

  test.each(paths)("%s in the query", async (_, value, encoded) => {
    await expectPath("http://HOST/?a={{ user }}&b=1", done(value), `/?a=${encoded}&b=1`);
  });

  const urls: [what: string, url: string, path: string][] = [
    ["url_encode does not encode twice", "/{{ user | url_encode }}", "/a%2Fb%20c"],
    ["a filter behind url_encode", "/{{ user | url_encode | upcase }}", "/A%252FB%2520C"],
    ["a fallback", "/{{ none ?? x/y }}", "/x%2Fy"],
    ["a filter behind raw", "/{{ user | raw | upcase }}", "/A%2FB%20C"],
    ["raw of another alternative", "/{{ user | raw ?? x }}", "/a%2Fb%20c"],
    ["an assigned raw value", "/{% assign u = user | raw %}{{ u }}", "/a%2Fb%20c"],
    ["an assigned raw value, raw", "/{% assign u = user | raw %}{{ u | raw }}", "/a/b%20c"],
    ["echo", "/{% echo user %}", "/a%2Fb%20c"],
    ["a lone surrogate", "/{{ 'a\\ud800b' }}", "/a%EF%BF%BDb"],
    ["echo of a raw value", "/{% echo user | raw %}", "/a/b%20c"],
    ["a loop", "/{% for u in list %}{{ u }}/{% endfor %}x", "/%2F/%3F/x"],
    [
      "a captured value, raw",
      "/{% capture u %}{{ user }}/z{% endcapture %}{{ u | raw }}",
      "/a%2Fb%20c/z",
    ],
    ["raw", "/{{ user | raw }}", "/a/b%20c"],
    ["raw with a query", "/{{ query | raw }}", "/?a=b&c=d"],
    ["the key of a parameter", "/?{{ query }}=1", "/?%3Fa%3Db%26c%3Dd=1"],
    ["the fragment is not sent", "/x#{{ user }}", "/x"],
    ["an empty part of a segment", "/user-{{ none }}", "/user-"],
    ["an empty parameter", "/?a={{ none }}", "/?a="],
    ["an empty raw value", "/{{ none | raw }}", "/"],
    ["a dot segment of the template's own", "/a/../{{ user }}", "/a%2Fb%20c"],
    ["a backslash of the template's own", "/x\\{{ user }}", "/x/a%2Fb%20c"],
  ];
  test.each(urls)("%s", async (_, url, path) => {
    const data = { user: "a/b c", query: "?a=b&c=d", list: ["/", "?"] };
    await expectPath(`http://HOST${url}`, data, path);
  });
});

describe("a value that would be a dot segment fails the step", () => {
  const DOT = /would make "\." or "\.\." a segment/;
  const values = [".", "..", "%2e", "%2E%2e", ".%2E", "%2e.", "%252e%252e", ".%252525252E"];
  test.each(values)("%s as a whole segment", async (user) => {
    await expectNoCall("http://HOST/users/{{ user }}/done", { user }, DOT);
    await expectNoCall("http://HOST/users/{{ user }}", { user }, DOT);
    await expectNoCall("http://HOST/users/{{ user }}?a=b", { user }, DOT);
    await expectNoCall("http://HOST/{{ user }}#x", { user }, DOT);
    await expectNoCall("http://HOST/users\\{{ user }}\\x", { user }, DOT);
    await expectNoCall("http://HOST/users/{{ user | raw }}/done", { user }, DOT);
  });

  const joined: [url: string, data: Record<string, unknown>][] = [
    ["/a/.{{ x }}/b", { x: "." }],
    ["/a/.{{ x }}/b", { x: "" }],
    ["/a/{{ x }}./b", { x: "." }],
    ["/a/{{ x }}{{ y }}/b", { x: ".", y: "." }],
    ["/a/{{ x }}{{ y }}/b", { x: "..", y: "" }],
    ["/a/%2{{ x }}/b", { x: "e" }],
    ["/a/.%{{ x }}", { x: "2E" }],
    ["/a/{{ x }}2e/b", { x: "%" }],
    ["/a/{{ x | raw }}2e/b", { x: "%" }],
    ["/a/{{ x | raw }}/b", { x: "c/../d" }],
    ["/a/{{ x | raw }}", { x: "c/.." }],
    ["/a/{{ x | raw }}/b", { x: "c\\..\\d" }],
    ["/a/{{ x | raw }}{{ y }}", { x: "c/.", y: "." }],
    ["/a/{% capture z %}{{ x }}{% endcapture %}{{ z | raw }}/b", { x: ".." }],
    ["/a/{% echo x %}/b", { x: ".." }],
    ["/a/{% echo x | raw %}/b", { x: ".." }],
    ["/a/{% assign z = x | raw %}{{ z }}/b", { x: ".." }],
    ["/a/{{ x | append: '.' }}/b", { x: "." }],
    ["/a/{{ x ?? .. }}/b", {}],
  ];
  test.each(joined)("%s with %j", async (url, data) => {
    await expectNoCall(`http://HOST${url}`, data, DOT);
  });
});

describe("an empty value that would remove its segment fails the step", () => {
  const EMPTY = /A value in the path of the URL is empty/;
  const urls = [
    "/users/{{ x }}",
    "/users/{{ x }}/done",
    "/{{ x }}",
    "/a/{{ x }}?b",
    "/{{ x }}{{ y }}/",
  ];
  test.each(urls)("%s", async (url) => {
    await expectNoCall(`http://HOST${url}`, { x: "" }, EMPTY);
    await expectNoCall(`http://HOST${url}`, {}, EMPTY);
  });
});

describe("a value cannot change scheme, host and port", () => {
  const refused: [url: string, value: string, reason: RegExp][] = [
    ["http://{{ x }}.example.com/", "evil.com/", /in the host/],
    ["http://{{ x }}.example.com/", "evil.com#", /in the host/],
    ["http://{{ x }}.example.com/", "evil.com?", /in the host/],
    ["http://{{ x }}.example.com/", "evil.com\\", /in the host/],
    ["http://{{ x }}.example.com/", "user@", /in the host/],
    ["http://{{ x }}.example.com/", "user:pass@evil", /in the host/],
    ["http://{{ x }}.example.com/", "a.b", /in the host/],
    ["http://{{ x }}.example.com/", "a:80", /in the host/],
    ["http://{{ x }}.example.com/", "%2e", /in the host/],
    ["http://{{ x }}.example.com/", "", /in the host/],
    ["http://{{ x }}.example.com/", "ａ／ｂ", /in the host/],
    ["http://{{ x }}.example.com/", "a\tb", /in the host/],
    ["http://{{ x }}/", "127.0.0.1", /in the host/],
    ["http://{{ x }}/", "2130706433", /structure/],
    ["http://{{ x }}/", "", /does not begin with/],
    ["http://a.example{{ x }}/", ":25", /in the host/],
    ["http://a.example{{ x }}", "/b", /in the host/],
    ["http://{{ x | raw }}.example.com/", "evil.com/", /in the host/],
    ["http://{{ x | raw }}.example.com/", "user@evil", /in the host/],
    ["http://{{ x | raw }}.example.com/", "evil.com:80", /in the host/],
    ["http://{{ x | raw }}.example.com/", "evil.com\\", /in the host/],
    ["http://a.example{{ x | raw }}", "/b", /in the host/],
    ["http://a.example{{ x | raw }}", "@evil.com/", /in the host/],
    ["http://a.example{{ x | raw }}", ".evil.com:99/", /in the host/],
    ["{{ x }}", "http://127.0.0.1/", /does not begin with/],
    ["{{ x }}://127.0.0.1/", "http", /scheme/],
    ["{% if true %}{{ x }}{% endif %}http://127.0.0.1/", "", /scheme/],
    ["{{ x | raw }}", "file:///etc/passwd", /does not begin with/],
    ["{{ x | raw }}", "javascript:alert(1)", /does not begin with/],
    ["{{ x | raw }}", "http://user:pass@127.0.0.1/", /User names/],
    ["{{ x | raw }}", "http://127.0.0.1:25/", /ports/],
    ["{{ x | raw }}", "http:///a", /does not begin with/],
    ["{{ x | raw }}", "http://127.0.0.1/\t../a", /tab/],
    ["http://HOST/{{ x | raw }}", "a\r\nX-Evil: 1", /line break/],
    ["http://HOST/{{ x | raw }}", ".\t./a", /tab/],
    ["http://HOST/{% for i in (1..300) %}{{ i }}{% endfor %}{{ x }}", "", /more than 200/],
  ];
  test.each(refused)("%s with %j is not called", async (url, x, reason) => {
    await expectNoCall(url, { x }, reason);
  });

  test("a port from a value is refused, even if a tag hides it when the workflow is stored", async () => {
    const url = "http://127.0.0.1{% if true %}:{% endif %}{{ x }}/";
    await expectNoCall(url, { x: String(server.port) }, /port/);
    await expectNoCall(url.replace("x }}", "x | raw }}"), { x: String(server.port) }, /port/);
  });

  test("a URL of more than 8 KiB is not called", async () => {
    await expectNoCall("http://HOST/{{ x | raw }}", { x: "a".repeat(9000) }, /longer than/);
  });

  test("one label of the host may be a value", async () => {
    await expectPath(
      `http://{{ x }}.localhost:${server.port}/{{ x }}`,
      { x: "tenant-1" },
      "/tenant-1",
    );
  });

  test("a raw value may be a whole URL or its beginning", async () => {
    const x = `http://127.0.0.1:${server.port}`;
    await expectPath("{{ x | raw }}", { x: `${x}/a?b=c` }, "/a?b=c");
    await expectPath("{{ x | raw }}/users/{{ y }}", { x, y: "a/b" }, "/users/a%2Fb");
    await expectPath("{{ x | raw }}{{ y }}", { x: `${x}/`, y: "a/b" }, "/a%2Fb");
  });
});

describe("values in headers and the body add no header", () => {
  async function callWith(x: string): Promise<string> {
    const event = `header-${++count}`;
    const headers = { "X-A": "{{ x }}" };
    const config = { url: `${server.origin}/`, method: "POST", headers };
    const id = await a.workflow({
      steps: [trigger(event), step("call", "WEBHOOK", config)],
      transitions: [transition("start>call")],
    });
    server.requests = [];
    await a.track(event, { x });
    return id;
  }

  test("a character beyond Latin-1 in a header fails the step", async () => {
    expect(await a.only(await callWith("名"))).toMatchObject({ status: "FAILED" });
    expect(server.requests).toEqual([]);
  });

  test.each([
    ["a\r\nX-Evil: 1", "a X-Evil: 1"],
    ["a\nX-Evil: 1", "a X-Evil: 1"],
    ["a\rX-Evil: 1", "a X-Evil: 1"],
    ["a\u0001b\u007f\n", "a b"],
  ])("%j in a header becomes one line", async (x, value) => {
    await callWith(x);
    const [request] = server.requests;
    expect([request?.headers["x-a"], request?.headers["x-evil"]]).toEqual([value, undefined]);
  });

  test("line breaks around a header value are removed, and those in a body are kept", async () => {
    const event = `header-${++count}`;
    const config = {
      url: `${server.origin}/`,
      method: "POST",
      headers: { "X-A": "{{ x }}" },
      body: "{{ x }}{{ y }}",
    };
    await a.workflow({
      steps: [trigger(event), step("call", "WEBHOOK", config)],
      transitions: [transition("start>call")],
    });
    server.requests = [];
    await a.track(event, { x: "\r\na\r\n", y: "X-Evil: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n" });
    const [request, ...more] = server.requests;
    expect(more).toEqual([]);
    expect(request?.headers["x-a"]).toBe("a");
    expect(request?.headers["x-evil"]).toBeUndefined();
    expect(request?.body).toBe("\r\na\r\nX-Evil: 1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
  });
});
