/**
 * A DKIM key that a domain has already, from the product that has sent its mail so far. In order: the
 * private key is read; the public key is looked up in the DNS, or in the record that the caller gives;
 * the private key belongs to it, or is refused; it is sealed as the keys of this server are. Mail is then
 * signed with its selector, so that the DNS need not change.
 */

import type { App } from "../../core/app.ts";
import { fieldError } from "../../lib/errors.ts";
import { type ForeignKey, publishedForm, readPemKey } from "../../protocols/dkim/keys.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { type NewKey, sealKey } from "./keys.ts";
import type { OwnKeyInput } from "./model.ts";

/** `isInDns` is false if only the record of the caller was compared. */
export type OwnKey = { key: NewKey; isInDns: boolean };

/** One label or several (RFC 6376 §3.1). */
const SELECTOR =
  /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?){0,3}$/;
const NO_SELECTOR = "must be the name before ._domainkey, such as s1";

/** Throws 422 for a key that is none, and for one that does not belong to the published key. */
export async function readOwnKey(
  { secret, dns }: Pick<App, "secret"> & { dns: Pick<Dns, "resolve"> },
  domain: string,
  input: OwnKeyInput,
): Promise<OwnKey> {
  const selector = input.selector.toLowerCase();
  if (!SELECTOR.test(selector)) throw fieldError("dkim.selector", "invalid_format", NO_SELECTOR);
  const read = readPemKey(input.privateKey);
  if (!read.ok) throw fieldError("dkim.privateKey", "invalid_value", read.reason);
  const { algorithm, privateKey } = read.key;
  const record = input.record ?? null;
  const publicKey =
    record === null
      ? await findInDns(dns, `${selector}._domainkey.${domain}`, read.key)
      : findInRecord(record, read.key);
  const key = sealKey({ secret }, { algorithm, selector, publicKey, privateKey });
  return { key, isInDns: record === null };
}

function findInRecord(record: string, key: ForeignKey): string {
  const form = publishedForm(textIn(record), key);
  if (form !== null) return form;
  throw fieldError("dkim.record", "invalid_value", "does not publish the key of dkim.privateKey");
}

/** A line of a zone file, such as opendkim-genkey writes, has the text in quoted parts (RFC 1035 §5.1). */
function textIn(record: string): string {
  const parts = [...record.matchAll(/"([^"]*)"/g)].map(([, part]) => part);
  return parts.length === 0 ? record : parts.join("");
}

async function findInDns(
  dns: Pick<Dns, "resolve">,
  name: string,
  key: ForeignKey,
): Promise<string> {
  const answer = await dns.resolve(name, "TXT", { fresh: true });
  switch (answer.kind) {
    case "failed": {
      const reason = `is required, because the DNS gives no answer for ${name}: ${answer.reason}`;
      throw fieldError("dkim.record", "required", reason);
    }
    case "records": {
      const forms = answer.records.map((record) => publishedForm(record, key));
      const form = forms.find((found) => found !== null) ?? null;
      if (form !== null) return form;
      const reason = `is not the key that ${name} publishes in the DNS`;
      throw fieldError("dkim.privateKey", "invalid_value", reason);
    }
    default:
      throw fieldError(
        "dkim.selector",
        "invalid_value",
        `is not in the DNS: ${name} has no TXT record`,
      );
  }
}
