import { expect, test } from "bun:test";
import {
  isNewerVersion,
  releaseComment,
  SIGNATURE_FILE,
  SUMS_FILE,
  versionInComment,
} from "../../src/lib/release-names.ts";

test("the files have the names that sha256sum -c and minisign -V expect", () => {
  expect([SUMS_FILE, SIGNATURE_FILE]).toEqual(["SHA256SUMS", "SHA256SUMS.minisig"]);
});

test.each<[string, string | null]>([
  [releaseComment("1.2.3"), "1.2.3"],
  [releaseComment("0.10.0-rc.1+build.7"), "0.10.0-rc.1+build.7"],
  ["mailstead 1.2", null],
  ["mailstead v1.2.3", null],
  ["mailstead 1.2.3 ", null],
  ["mailstead ../../1.2.3", null],
  [`mailstead 1.2.3-${"a".repeat(60)}`, null],
  ["another 1.2.3", null],
  ["", null],
])("the trusted comment %p names the version %p", (comment, version) => {
  expect(versionInComment(comment)).toBe(version);
});

test("no comment is made for something that is no version", () => {
  expect(() => releaseComment("latest")).toThrow('"latest" is no version');
});

test.each<[string, string, boolean]>([
  ["1.10.0", "1.9.9", true],
  ["1.0.0", "1.0.0-rc.1", true],
  ["1.0.0-rc.2", "1.0.0-rc.10", false],
  ["1.0.0", "1.0.0", false],
  ["0.9.0", "1.0.0", false],
])("%s is newer than %s: %p", (version, than, expected) => {
  expect(isNewerVersion(version, than)).toBe(expected);
});
