/** String formats of the interface, as the schemas name them. */

import { Type } from "@sinclair/typebox";
import { isEventName, isEventPattern } from "../lib/event-name.ts";
import { parseAddressFilter } from "../mail/address-filter.ts";
import { LONGEST_ADDRESS_TEXT, parseAddress } from "../mail/address.ts";
import { isContentId, isHeaderText } from "../mail/headers.ts";
import { defineFormat } from "./validation.ts";

/** Registers the formats; called once, before the first route is compiled. */
export function defineFormats(): void {
  defineFormat("email", (text) => parseAddress(text).ok);
  defineFormat("header-text", isHeaderText);
  defineFormat("content-id", isContentId);
  defineFormat("date-time", isDateTime);
  defineFormat("address-filter", (text) => parseAddressFilter(text) !== null);
  defineFormat("event-name", isEventName);
  defineFormat("event-pattern", isEventPattern);
}

/** An address as callers send it. */
export const EmailAddress = Type.String({ format: "email", maxLength: LONGEST_ADDRESS_TEXT });

/** The form under which an address is kept; the schema has checked it. */
export function normalizedAddress(text: string): string {
  const parsed = parseAddress(text);
  if (!parsed.ok) throw new Error("an address passed its schema and is not one");
  return parsed.address;
}

/** RFC 3339 §5.6: date, time and offset, all of them, and a day that exists. */
function isDateTime(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
    !Number.isNaN(Date.parse(text)) &&
    Number(text.slice(8, 10)) <= daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7)))
  );
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
