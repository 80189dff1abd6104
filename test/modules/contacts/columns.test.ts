import { describe, expect, test } from "bun:test";
import {
  type Column,
  columnName,
  readHeader,
} from "../../../src/modules/contacts/import/columns.ts";

const data = (key: string): Column => ({ kind: "data", key });
const json = (key: string): Column => ({ kind: "json", key });
const EMAIL: Column = { kind: "email" };
const IGNORED: Column = { kind: "ignored" };
const LEFT: Column = { kind: "left", standing: "UNSUBSCRIBED" };

describe("readHeader", () => {
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
    // A name in the header is the key itself, including its dots.
    [
      ["email", "a.b", "data.c.d", "data.e\\.f"],
      {},
      [EMAIL, data("a.b"), data("c.d"), data("e\\.f")],
    ],
    [["email", "json:a.b", "json:"], {}, [EMAIL, json("a.b"), json("")]],
    // In a mapping, a dot in a key is written \., as in a condition.
    [["email", "a", "b"], { a: "data.x\\.y", b: "z\\.q" }, [EMAIL, data("x.y"), data("z.q")]],
    [["email", "a", "b"], { a: "json:x\\.y", b: "data.x\\\\" }, [EMAIL, json("x.y"), data("x\\")]],
    [["email", "data.", "a.b"], { "data.": "plan", "a.b": null }, [EMAIL, data("plan"), IGNORED]],
    [["email", "a"], { a: "data.email" }, [EMAIL, IGNORED]],
    [["email", "Status"], {}, [EMAIL, { kind: "status" }]],
    [["email", "data.status"], {}, [EMAIL, data("status")]],
    [["email", "Status"], { Status: "data.status" }, [EMAIL, data("status")]],
    [["email", "Stand"], { Stand: "status" }, [EMAIL, { kind: "status" }]],
    [["email", "Weg"], { Weg: "unsubscribed" }, [EMAIL, LEFT]],
    [["Email Address", "UNSUB_TIME"], {}, [EMAIL, LEFT]],
    [["email", "Email Address"], {}, [EMAIL, data("Email Address")]],
    [["email", "attributes"], {}, [EMAIL, { kind: "object", key: "attributes" }]],
    [["email", "x"], { x: "data" }, [EMAIL, { kind: "object", key: null }]],
    [["email", "opt_in_flag"], { opt_in_flag: null }, [EMAIL, IGNORED]],
    [["email", "bounce_rate", "OPTIN_TIME"], {}, [EMAIL, data("bounce_rate"), data("OPTIN_TIME")]],
  ];
  test.each(cases)("reads %j with the mapping %j", (names, mapping, columns) => {
    expect(readHeader(names, mapping)).toMatchObject({ columns, errors: [] });
  });

  test.each([
    [["plan"], {}, [["file", "required"]]],
    [["ada@example.com", "pro"], {}, [["file", "required"]]],
    [["mail", "e-mail"], {}, [["file", "required"]]],
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
    [["email", "data."], {}, [["file", "invalid_value"]]],
    [["email", "a"], { a: "data.address.city" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "address.city" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "json:address.city" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "data.a\\\\.b" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "data..a" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "data." }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "json:" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "" }, [["mapping", "invalid_value"]]],
    [["email", "a"], { a: "  " }, [["mapping", "invalid_value"]]],
    [
      ["a", "b"],
      { a: "plan", b: "plan" },
      [
        ["file", "invalid_value"],
        ["file", "required"],
      ],
    ],
  ])("refuses %j with the mapping %j", (names, mapping, errors) => {
    const read = readHeader(names, mapping);
    expect(read.errors.map(({ field, code }) => [field, code])).toEqual(errors);
  });

  test.each([
    [
      "data.address.city",
      "cannot map the column City: nested values cannot be imported; write \\. for a dot in a key",
    ],
    [
      "data.",
      "cannot map the column City: the target must be a name, or null to ignore the column",
    ],
  ])("reports the error in the target %j", (target, message) => {
    const read = readHeader(["email", "City"], { City: target });
    expect(read.errors.map((error) => error.message)).toEqual([message]);
  });

  test("reports a first line that seems to be data", () => {
    const read = readHeader(["ada@example.com", "pro"], {});
    expect(read.errors[0]?.message).toContain("must contain the column names");
  });
});

describe("columnName writes a name that readHeader reads as the same key", () => {
  const KEYS = [
    "plan",
    "Größe",
    "Subscribed",
    "id2",
    "data.x",
    "json:x",
    " x",
    "a.b",
    "a\\.b",
    ".",
    "=1",
    "@x",
    "-",
    "a,b",
    "名前",
    // Without the prefix, these say who left or hold objects.
    "status",
    "Unsubscribed",
    "unsub_time",
    "bounce_flag",
    "attributes",
    "data",
  ];
  test.each(KEYS)("%j", (key) => {
    for (const holdsJson of [false, true]) {
      const name = columnName(key, holdsJson);
      const read = readHeader(["email", name], {});
      expect(read.errors).toEqual([]);
      expect(read.columns[1]).toEqual({ kind: holdsJson ? "json" : "data", key });
      expect(name).not.toMatch(/^[=+\-@]/);
    }
  });
});

test("columnName and readHeader support an empty key with JSON cells", () => {
  const read = readHeader(["email", columnName("", true)], {});
  expect(read).toMatchObject({ columns: [EMAIL, json("")], errors: [] });
});
