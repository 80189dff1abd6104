/**
 * Recognises programs that fetch links and pixels without a person. Their requests get the same
 * answer as all others; only the open or click is not counted.
 *
 * The image proxies of Gmail (GoogleImageProxy), Yahoo (YahooMailProxy) and Outlook (ms-office) are
 * not listed, because they fetch when a person reads. Apple's Mail Privacy Protection fetches
 * without a reader, but its requests look like those of a person; it is recognised only if it
 * fetches within seconds of delivery.
 */

type HitRequest = { method: string; headers: Headers };

type Rule = { name: string; userAgent: RegExp } | { name: string; header: string; value: RegExp };

export const MACHINES: readonly Rule[] = [
  // Prefetching programs that declare it in a header.
  { name: "prefetch", header: "sec-purpose", value: /prefetch|prerender/i },
  { name: "prefetch", header: "purpose", value: /prefetch|preview/i },
  { name: "prefetch", header: "x-purpose", value: /preview|instant/i },
  { name: "prefetch", header: "x-moz", value: /prefetch/i },
  // Mail programs and browsers always send a User-Agent.
  { name: "no User-Agent", userAgent: /^$/ },
  // Gmail loads images of mail that arrives while Gmail is open, before the reader opens the mail.
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
  // Chat programs and social networks that show previews of links.
  {
    name: "preview",
    userAgent: /bingpreview|skypeuripreview|facebookexternalhit|facebookcatalog/i,
  },
  { name: "preview", userAgent: /slackbot|slack-imgproxy|whatsapp|linkedinbot|embedly|iframely/i },
  // Crawlers in general. "Cubot" is a maker of telephones.
  { name: "crawler", userAgent: /(?<!cu)bot\b|crawler|spider|slurp|mediapartners-google/i },
  // HTTP libraries and command-line programs.
  {
    name: "script",
    userAgent: /^(?:curl|wget|python|go-http-client|java|ruby|perl|node|axios)\b/i,
  },
  { name: "script", userAgent: /^(?:php|okhttp|apache-http)/i },
  { name: "script", userAgent: /python-(?:requests|urllib|httpx)|aiohttp|libwww-perl|guzzlehttp/i },
  { name: "script", userAgent: /apache-httpclient|node-fetch|axios\/|undici|scrapy/i },
  { name: "headless browser", userAgent: /headlesschrome|phantomjs|puppeteer|playwright/i },
];

/** Whether the request itself shows that a machine made it. */
export function isMachine({ method, headers }: HitRequest): boolean {
  if (method === "HEAD") return true;
  const userAgent = headers.get("user-agent") ?? "";
  return MACHINES.some((rule) =>
    "header" in rule
      ? rule.value.test(headers.get(rule.header) ?? "")
      : rule.userAgent.test(userAgent),
  );
}

/** A person needs at least this long after the mail was sent to open it or to click a link. */
export const FASTEST_PERSON_MS = { open: 2_000, click: 4_000 } as const;
