/** No text from outside takes more than linear time, so that none can hold the event loop. */

import { testApp } from "../support/app.ts";
import { DELIVERY_PARSERS } from "./linear-time/delivery.ts";
import { DNS_PARSERS } from "./linear-time/dns.ts";
import { HTTP_PARSERS, requestParsers } from "./linear-time/http.ts";
import { linearAims, type Parser } from "./linear-time/linear.ts";
import { MAIL_PARSERS, nestedPartsAims } from "./linear-time/mail.ts";
import { MODULES_PARSERS } from "./linear-time/modules.ts";
import { regexAims } from "./linear-time/regexes.ts";
import { REPORTS_PARSERS } from "./linear-time/reports.ts";
import { FILTER_PARSERS, TEMPLATES_PARSERS } from "./linear-time/templates.ts";
import { URLS_PARSERS } from "./linear-time/urls.ts";
import { type Form, prove } from "./prove.ts";

const TEXTS: readonly [name: string, parsers: readonly Parser[]][] = [
  ["replies, records and policies of other servers are read in linear time", DELIVERY_PARSERS],
  ["DNS messages are read in linear time", DNS_PARSERS],
  ["bodies, forms, headers and query strings are read in linear time", HTTP_PARSERS],
  ["addresses, headers, HTML and whole messages are read in linear time", MAIL_PARSERS],
  ["filters, CSV files and names are read in linear time", MODULES_PARSERS],
  ["bounces and complaints are read in linear time", REPORTS_PARSERS],
  ["URLs and addresses of hosts are read in linear time", URLS_PARSERS],
  ["templates are compiled and rendered in linear time", TEMPLATES_PARSERS],
  ["each filter of templates takes linear time", FILTER_PARSERS],
];

async function requestAims(form: Form) {
  const t = await testApp();
  try {
    return await linearAims(requestParsers(t), form);
  } finally {
    await t.close();
  }
}

prove([
  ...TEXTS.map(([name, parsers]) => ({
    name,
    run: (form: Form) => linearAims(parsers, form),
  })),
  { name: "requests are answered in linear time", run: requestAims },
  {
    name: "lines in nested parts take about as long as lines of text",
    run: () => Promise.resolve(nestedPartsAims()),
  },
  { name: "all regular expressions take linear time", run: regexAims },
]);
