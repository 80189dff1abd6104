import { describe, expect, test } from "bun:test";
import { type Column, columnName, readHeader } from "../../../src/modules/contacts/columns.ts";

const data = (key: string): Column => ({ kind: "data", key });
const EMAIL: Column = { kind: "email" };
const IGNORED: Column = { kind: "ignored" };

describe("the columns of a file", () => {
  const cases: [names: string[], mapping: Record<string, string | null>, columns: Column[]][] = [
    [["email"], {}, [EMAIL]],
    [[" EMail ", "Subscribed", "Plan"], {}, [EMAIL, { kind: "subscribed" }, data("Plan")]],
    [["email", "plan", "Plan"], {}, [EMAIL, data("plan"), data("Plan")]],
    [["email", "", "  "], {}, [EMAIL, IGNORED, IGNORED]],
    [["email", "id", "unsubscribeUrl", "__proto__"], {}, [EMAIL, IGNORED, IGNORED, IGNORED]],
    [["email", "data.subscribed", "data. x "], {}, [EMAIL, data("subscribed"), data(" x ")]],
    [["email", "json:tags"], {}, [EMAIL, { kind: "json", key: "tags" }]],
    [["E-Mail", "Tarif"], { "E-Mail": "email", Tarif: "data.plan" }, [EMAIL, data("plan")]],
    [["email", "Notes"], { Notes: null }, [EMAIL, IGNORED]],
    [["old", "email"], { old: "email", email: "data.other" }, [EMAIL, data("other")]],
    [["email", "constructor"], {}, [EMAIL, data("constructor")]],
  ];
  test.each(cases)("%j with %j", (names, mapping, columns) => {
    expect(readHeader(names, mapping)).toEqual({ ok: true, columns });
  });

  test.each([
    [["plan"], {}, [["file", "required"]]],
    [["ada@example.com", "pro"], {}, [["file", "required"]]],
    [["email", "plan", "plan"], {}, [["file", "invalid_value"]]],
    [["email", "EMAIL"], {}, [["file", "invalid_value"]]],
    [["email", "plan", "json:plan"], {}, [["file", "invalid_value"]]],
    [
      ["email", "a"],
      { b: "plan", c: null },
      [
        ["mapping.b", "unknown_reference"],
        ["mapping.c", "unknown_reference"],
      ],
    ],
    [
      ["a", "b"],
      { a: "plan", b: "plan" },
      [
        ["file", "invalid_value"],
        ["file", "required"],
      ],
    ],
  ])("%j with %j is refused", (names, mapping, errors) => {
    const read = readHeader(names, mapping);
    expect(read.ok ? [] : read.errors.map(({ field, code }) => [field, code])).toEqual(errors);
  });

  test("says when the first line seems to be data", () => {
    const read = readHeader(["ada@example.com", "pro"], {});
    expect(read.ok ? "" : read.errors[0]?.message).toContain("it must name the columns");
  });
});

describe("the name of an exported column is read back as its key", () => {
  const KEYS = [
    "plan",
    "Größe",
    "Subscribed",
    "id2",
    "data.x",
    "json:x",
    " x",
    "",
    "=1",
    "@x",
    "-",
    "a,b",
    "名前",
  ];
  test.each(KEYS)("%j", (key) => {
    for (const holdsJson of [false, true]) {
      const name = columnName(key, holdsJson);
      const read = readHeader(["email", name], {});
      expect(read.ok ? read.columns[1] : read.errors).toEqual({
        kind: holdsJson ? "json" : "data",
        key,
      });
      expect(name).not.toMatch(/^[=+\-@]/);
    }
  });
});
