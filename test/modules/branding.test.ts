/** The logo and the colour of a project, and the pages that show them. */

import { beforeEach, expect, test } from "bun:test";
import { drawImage } from "../support/images.ts";
import { type Mailing, mailingOf } from "../support/mailing.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { removeUsers, signIn } from "../support/session.ts";

const projects = projectPerTest();
let mailing: Mailing;
let owner: Awaited<ReturnType<typeof signIn>>;
beforeEach(async () => {
  mailing = mailingOf(await projects.next());
  removeUsers(mailing.t);
  owner = await signIn(mailing.t);
});

const patch = (body: unknown) =>
  owner.call("PATCH", `/projects/${mailing.t.project.id}`, body, {
    "x-project": mailing.t.project.id,
  });

async function upload(width: number, height: number) {
  const raw = await drawImage(width, height, "png");
  const headers = { "content-type": "application/octet-stream" };
  return mailing.t.call("POST", "/images", undefined, { raw, headers });
}

test("recipients see the logo, which this server has, and the colour on each page", async () => {
  const { send, fetchAs } = mailing;
  const image = await upload(320, 80);
  const logoImageId = image.text("data.id");
  const changed = await patch({ logoImageId, brandColor: "#FFD400" });
  expect(changed.at("data")).toMatchObject({ logoImageId, brandColor: "#ffd400" });
  const letter = await send();
  const { pathname } = new URL(image.text("data.url"));
  for (const path of [letter.unsubscribe, letter.subscribe, letter.manage]) {
    const page = (await fetchAs("GET", path)).text("");
    expect(page).toContain(`<img src="${pathname}" width="320" height="80" alt="`);
    expect(page).toContain("--main: #ffd400; --on-main: #000000;");
  }
  expect((await fetchAs("GET", pathname)).status).toBe(200);
  await patch({ logoImageId: null, brandColor: null });
  const plain = (await fetchAs("GET", letter.manage)).text("");
  expect(plain).not.toMatch(/<img|ffd400/);
});

test("an image that is the logo is not deleted", async () => {
  const id = (await upload(64, 64)).text("data.id");
  await patch({ logoImageId: id });
  const refused = await mailing.t.call("DELETE", `/images/${id}`);
  expectError(refused, { status: 409, code: "CONFLICT" });
  expect(refused.text("error.message")).toContain("pages of the project");
  await patch({ logoImageId: null });
  expect((await mailing.t.call("DELETE", `/images/${id}`)).status).toBe(204);
});

test("refuses colours that are none, and images of other projects", async () => {
  const other = await mailing.t.makeProject("other");
  const raw = await drawImage(8, 8, "png");
  const headers = { "content-type": "application/octet-stream" };
  const image = await mailing.t.call("POST", "/images", undefined, {
    raw,
    headers,
    key: other.secretKey,
  });
  const bad: [field: string, value: unknown][] = [
    ["brandColor", "red"],
    ["brandColor", "#12345"],
    ["brandColor", "#123456;} body { display: none"],
    ["brandColor", "#12345\n6"],
    ["brandColor", 7],
    ["logoImageId", image.text("data.id")],
    ["logoImageId", "x"],
    ["logoImageId", ""],
  ];
  for (const [field, value] of bad) {
    const refused = await patch({ [field]: value, language: "de" });
    expect([refused.status, refused.text("error.errors.0.field")]).toEqual([422, field]);
  }
  const kept = await owner.get(`/projects/${mailing.t.project.id}`);
  expect(kept.at("data")).toMatchObject({ language: "en", brandColor: null, logoImageId: null });
});
