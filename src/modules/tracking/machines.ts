/**
 * Who fetches links and pixels without being a person. What is listed here is only kept from being
 * counted as one: its request is answered like any other.
 *
 * Not listed, as they fetch when a person reads: the image proxies of Gmail (GoogleImageProxy),
 * Yahoo (YahooMailProxy) and Outlook (ms-office). Apple's Mail Privacy Protection fetches without
 * a reader, but looks like one; it is told apart only where it fetches within seconds of delivery.
 */

export type Visitor = { method: string; headers: Headers };

type Rule = { name: string; userAgent: RegExp } | { name: string; header: string; value: RegExp };

export const MACHINES: readonly Rule[] = [
  // Says so itself.
  { name: "prefetch", header: "sec-purpose", value: /prefetch|prerender/i },
  { name: "prefetch", header: "purpose", value: /prefetch|preview/i },
  { name: "prefetch", header: "x-purpose", value: /preview|instant/i },
  { name: "prefetch", header: "x-moz", value: /prefetch/i },
  // Mail programs and browsers name themselves.
  { name: "no name", userAgent: /^$/ },
  // Loads the images of mail that arrives while Gmail is open, before anybody looks at it.
  {
    name: "Gmail prefetch",
    userAgent: /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246 Moz/,
  },
  // Security scanners that name themselves.
  { name: "Barracuda", userAgent: /barracuda/i },
  { name: "Bitdefender", userAgent: /bitdefender/i },
  { name: "Cisco", userAgent: /ironport|cisco[ -]?(?:email|talos|umbrella)/i },
  { name: "Cloudmark", userAgent: /cloudmark/i },
  { name: "Forcepoint", userAgent: /forcepoint|websense/i },
  { name: "Fortinet", userAgent: /forti(?:guard|mail|sandbox)/i },
  { name: "Google", userAgent: /google-?safety|google-?safebrowsing|google-inspection/i },
  { name: "Hornetsecurity", userAgent: /hornetsecurity|vade ?(?:secure|retro)/i },
  { name: "Mimecast", userAgent: /mimecast/i },
  { name: "Palo Alto", userAgent: /paloalto|expanse/i },
  { name: "Proofpoint", userAgent: /proofpoint|urldefense/i },
  { name: "Sophos", userAgent: /sophos/i },
  { name: "Symantec", userAgent: /symantec|messagelabs/i },
  { name: "Trellix", userAgent: /trellix|fireeye|mcafee/i },
  { name: "Trend Micro", userAgent: /trend ?micro/i },
  { name: "urlscan", userAgent: /urlscan|virustotal|phishtank|checkphish/i },
  // Chat programs and social networks that show what is behind a link.
  {
    name: "preview",
    userAgent: /bingpreview|skypeuripreview|facebookexternalhit|facebookcatalog/i,
  },
  { name: "preview", userAgent: /slackbot|slack-imgproxy|whatsapp|linkedinbot|embedly|iframely/i },
  // Crawlers, all in all. "Cubot" makes telephones.
  { name: "crawler", userAgent: /(?<!cu)bot\b|crawler|spider|slurp|mediapartners-google/i },
  // Programs, not programs that people read mail with.
  {
    name: "script",
    userAgent: /^(?:curl|wget|python|go-http-client|java|ruby|perl|node|axios)\b/i,
  },
  { name: "script", userAgent: /^(?:php|okhttp|apache-http)/i },
  { name: "script", userAgent: /python-(?:requests|urllib|httpx)|aiohttp|libwww-perl|guzzlehttp/i },
  { name: "script", userAgent: /apache-httpclient|node-fetch|axios\/|undici|scrapy/i },
  { name: "browser without a person", userAgent: /headlesschrome|phantomjs|puppeteer|playwright/i },
];

/** Whether a request is made by a machine, as far as it says so itself. */
export function isMachine({ method, headers }: Visitor): boolean {
  if (method === "HEAD") return true;
  const userAgent = headers.get("user-agent") ?? "";
  return MACHINES.some((rule) =>
    "header" in rule
      ? rule.value.test(headers.get(rule.header) ?? "")
      : rule.userAgent.test(userAgent),
  );
}

/** Nobody has read a mail, or found a link in it, this soon after it left. */
export const SOONEST_MS = { open: 2_000, click: 4_000 } as const;
