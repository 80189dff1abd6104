import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp, TestResponse } from "../support/app.ts";
import {
  drawImage,
  exif,
  extendedWebp,
  gifImage,
  withJpegSegment,
  withPngChunk,
  withPngSize,
} from "../support/images.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const png = await drawImage(60, 30, "png");
const jpeg = await drawImage(60, 30, "jpeg");
const webp = await drawImage(60, 30, "webp");

const upload = (raw: Uint8Array, query = "", headers = {}): Promise<TestResponse> =>
  t.call("POST", `/images${query}`, undefined, {
    raw,
    headers: { "content-type": "application/octet-stream", ...headers },
  });

/** Returns the public response at the address of an image. */
async function show(answer: TestResponse, headers: Record<string, string> = {}) {
  const { pathname } = new URL(answer.text("data.url"));
  const response = await t.app.handle(new Request(`http://localhost${pathname}`, { headers }));
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

const imagesOf = async () => (await t.call("GET", "/images")).at("data.total");

describe("POST /images", () => {
  const kept: [why: string, given: Buffer, format: string, stored: Buffer][] = [
    ["PNG", png, "png", png],
    ["a PNG with text", withPngChunk(png, "tEXt", "Author\0Ada"), "png", png],
    ["JPEG", jpeg, "jpeg", jpeg],
    ["a photo with its place", withJpegSegment(jpeg, 0xe1, exif(1)), "jpeg", jpeg],
    ["WebP", webp, "webp", webp],
    ["an animated GIF", gifImage({ frames: 3, comment: "x" }), "gif", gifImage({ frames: 3 })],
  ];
  test.each(kept)("stores without metadata: %s", async (_, given, format, stored) => {
    const answer = await upload(given, "?name=logo");
    expect(answer.status).toBe(201);
    expect(answer.at("data")).toMatchObject({ name: "logo", format, sizeBytes: stored.length });
    const { response, bytes } = await show(answer);
    expect([response.status, bytes.equals(stored)]).toEqual([200, true]);
    expect(response.headers.get("content-type")).toBe(`image/${format}`);
  });

  test("an animated WebP stays animated, without its metadata", async () => {
    const answer = await upload(extendedWebp(webp, { width: 60, height: 30, frames: 2 }));
    const { bytes } = await show(answer);
    expect([answer.status, bytes.includes("ANMF"), bytes.includes("EXIF")]).toEqual([
      201,
      true,
      false,
    ]);
  });

  test("makes an image smaller that is more than twice as wide as it is shown", async () => {
    for (const image of [png, jpeg, webp]) {
      const answer = await upload(image, "?width=16");
      expect([answer.status, answer.body]).toMatchObject([
        201,
        { data: { width: 32, height: 16 } },
      ]);
      const { bytes } = await show(answer);
      expect((await new Bun.Image(bytes).metadata()).width).toBe(32);
    }
    expect((await upload(png, "?width=30")).at("data.width")).toBe(60);
  });

  test("a photo that was taken sideways is stored upright", async () => {
    const answer = await upload(withJpegSegment(jpeg, 0xe1, exif(6)));
    expect(answer.at("data")).toMatchObject({ width: 30, height: 60 });
    const { bytes } = await show(answer);
    expect(bytes.includes("Exif")).toBe(false);
  });

  test("the same image is stored once, and uploaded again with 200", async () => {
    const first = await upload(png, "?name=a");
    const second = await upload(withPngChunk(png, "tEXt", "x\0y"), "?name=b");
    expect([second.status, second.body]).toEqual([200, first.body]);
    expect(await imagesOf()).toBe(1);
  });

  test("takes a form, with the name of its file", async () => {
    const form = new FormData();
    form.append("file", new Blob([png]), "C:\\photos\\logo.png");
    const encoded = new Response(form);
    const type = encoded.headers.get("content-type") ?? "";
    const raw = new Uint8Array(await encoded.arrayBuffer());
    const answer = await upload(raw, "", { "content-type": type });
    expect([answer.status, answer.at("data.name")]).toEqual([201, "logo.png"]);
  });

  test("is done once for an Idempotency-Key", async () => {
    const headers = { "idempotency-key": "k" };
    const first = await upload(png, "", headers);
    const second = await upload(png, "", headers);
    expect([second.status, second.body]).toEqual([201, first.body]);
    expectError(await upload(jpeg, "", headers), { status: 409, code: "IDEMPOTENCY_KEY_REUSED" });
  });

  const refused: [why: string, given: Buffer, message: RegExp][] = [
    ["text", Buffer.from("hello"), /^file: is not a PNG, JPEG, GIF or WebP image/],
    ["SVG", Buffer.from("<svg><script>alert(1)</script></svg>"), /SVG.*export it as PNG/],
    ["a PNG that is cut off", png.subarray(0, -20), /damaged or incomplete PNG/],
    ["a PNG whose pixels are wrong", withPngSize(png, 61, 31), /damaged or incomplete PNG/],
    ["a page that looks like a GIF", Buffer.from("GIF89a<script>alert(1)</script>;"), /GIF/],
    [
      "30,000 pixels in each direction",
      withPngSize(png, 30_000, 30_000),
      /30000 × 30000.*at most 8000/,
    ],
    ["too many pixels", withPngSize(png, 7_000, 7_000), /at most 40 megapixels/],
    ["no pixels", withPngSize(png, 0, 5), /has no pixels/],
  ];
  test("refuses what is no image, with the reason, and stores nothing", async () => {
    const before = t.contents();
    for (const [why, given, message] of refused) {
      const answer = await upload(given);
      expect([why, answer.status]).toEqual([why, 422]);
      expect([why, answer.text("error.message")]).toEqual([why, expect.stringMatching(message)]);
    }
    const large = Buffer.concat([png, Buffer.alloc(5 * 1024 * 1024)]);
    expectError(await upload(large), { status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect((await upload(Buffer.alloc(0))).status).toBe(422);
    expect((await upload(png, "?width=0")).status).toBe(422);
    expect(t.contents()).toEqual(before);
  });
});

test("one project cannot take all places of those that wait to be decoded", async () => {
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, at) => upload(withPngChunk(png, "tEXt", `x\0${at}`))),
  );
  const withStatus = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect([withStatus(201), withStatus(200), withStatus(503)]).toEqual([1, 7, 1]);
  const refused = answers.find(({ status }) => status === 503);
  expect(refused?.headers.get("retry-after")).toBe("10");
});

describe("GET /i/{file}", () => {
  test("may be kept for a year, and cannot do anything", async () => {
    const answer = await upload(png);
    const { response } = await show(answer);
    const { headers } = response;
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    const again = await show(answer, { "if-none-match": headers.get("etag") ?? "" });
    expect([again.response.status, again.bytes.length]).toEqual([304, 0]);
  });

  test("another name is 404", async () => {
    const { pathname } = new URL((await upload(png)).text("data.url"));
    for (const path of [
      pathname.replace(".png", ".gif"),
      "/i/x.png",
      `/i/${"0".repeat(64)}.png`,
      "/i/",
    ]) {
      expect([path, (await t.call("GET", path, undefined, { key: null })).status]).toEqual([
        path,
        404,
      ]);
    }
  });
});

describe("GET and DELETE /images", () => {
  test("lists images without their bytes, and deletes them", async () => {
    const first = await upload(await drawImage(12, 10, "png"), "?name=logo");
    const second = await upload(jpeg, "?name=photo");
    const list = await t.call("GET", "/images?name=photo");
    expect(list.at("data.items")).toEqual([second.at("data")]);
    const path = `/images/${first.text("data.id")}`;
    expect((await t.call("GET", path)).body).toEqual(first.body);
    await show(first);
    expect((await t.call("DELETE", path)).status).toBe(204);
    expect((await show(first)).response.status).toBe(404);
    expectError(await t.call("GET", path), { status: 404, code: "IMAGE_NOT_FOUND" });
  });

  test("an image that a template, a layout or a draft of a campaign shows is kept", async () => {
    const image = await upload(png);
    const shown = `<img src="${image.text("data.url")}">`;
    const template = { name: "T", subject: "x", body: shown, type: "TRANSACTIONAL" };
    const id = await t.create("/templates", template, "data.id");
    await t.create("/layouts", { name: "L", body: `${shown}{{ content }}` }, "data.id");
    const campaign = {
      name: "C",
      subject: "x",
      body: shown,
      from: "a@acme.test",
      audienceType: "ALL",
    };
    await t.create("/campaigns", campaign, "data.id");
    const answer = await t.call("DELETE", `/images/${image.text("data.id")}`);
    expectError(answer, { status: 409, code: "CONFLICT" });
    expect(answer.text("error.message")).toBe(
      'This image is shown by template "T", layout "L", campaign "C".',
    );
    expect(id).not.toBe("");
  });

  test("another project has its own", async () => {
    const image = await upload(await drawImage(11, 10, "png"));
    const other = t.inProject(await t.makeProject("other"));
    const headers = { "content-type": "image/png" };
    const raw = await drawImage(11, 10, "png");
    const second = await other.call("POST", "/images", undefined, { raw, headers });
    expect([second.status, second.at("data.url")]).toEqual([201, image.at("data.url")]);
    const path = `/images/${image.text("data.id")}`;
    expectError(await other.call("DELETE", path), { status: 404, code: "IMAGE_NOT_FOUND" });
    await t.call("DELETE", path);
    expect((await show(image)).response.status).toBe(200);
  });
});
