import { describe, expect, test } from "bun:test";
import { isMachine, MACHINES } from "../../../src/modules/tracking/machines.ts";

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";

function isMachineRequest(headers: Record<string, string>, method = "GET"): boolean {
  return isMachine({ method, headers: new Headers(headers) });
}

describe("a mail program or browser is not a machine", () => {
  const userAgents = [
    CHROME,
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15",
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.2.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    // Apple Mail Privacy Protection, which the User-Agent alone does not reveal.
    "Mozilla/5.0",
    "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
    "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html",
    "Mozilla/4.0 (compatible; ms-office; MSOffice 16)",
    "Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.18129; Pro)",
    "Outlook-iOS/711.2620504.prod.iphone (3.35.0)",
    "Mozilla/5.0 (Linux; Android 13; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Android 14; SM-S918B; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/126.0.0.0 Mobile Safari/537.36",
    "Lotus-Notes/6.0; Windows-NT",
    "SamsungEmail/6.1.90",
    "Mozilla/5.0 (Linux; U; Android 2.3; ja; java-phone) AppleWebKit/533.1 (KHTML, like Gecko) Version/4.0 Mobile Safari/533.1",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Mailspring/1.13.3 Chrome/108.0.5359.215 Electron/22.3.27 node/16.17.1 Safari/537.36",
    "Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UD1A.230803.041)",
    "Mail/3774.600.62 CFNetwork/1494.0.7 Darwin/23.4.0",
    "NodeMail/1.0",
    "SomeMail/3.2 (Android 14) okhttp/4.12.0",
    "Javelin/5.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0",
  ];

  for (const userAgent of userAgents) {
    test(userAgent, () => {
      expect(isMachineRequest({ "user-agent": userAgent })).toBe(false);
    });
  }
});

describe("a machine is recognised by its User-Agent", () => {
  const userAgents = [
    "",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0",
    "Barracuda Sentinel (EE)",
    "BarracudaCentral.org",
    "Mozilla/5.0 (compatible; Mimecast URL Protect)",
    "Proofpoint Essentials Link Scanner",
    "Mozilla/5.0 (compatible; TrendMicro WRS)",
    "Mozilla/5.0 (compatible; Cloudmark Authority)",
    "Sophos Email Link Checker",
    "Symantec Email Security.cloud",
    "Mozilla/5.0 (compatible; FireEye ETP)",
    "CheckPhish/1.0",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b",
    "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "WhatsApp/2.23.20.0",
    "TelegramBot (like TwitterBot)",
    "LinkedInBot/1.0 (compatible; Mozilla/5.0; +http://www.linkedin.com)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    "Mozilla/5.0 (compatible; YandexBot/3.0)",
    "Baiduspider",
    "curl/8.5.0",
    "Wget/1.21",
    "python-requests/2.31.0",
    "Python/3.11 aiohttp/3.9.1",
    "Go-http-client/2.0",
    "Java/17.0.2",
    "Apache-HttpClient/4.5.13 (Java/11)",
    "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
    "node",
    "node.js/22",
    "node-superagent/8.1.2",
    "undici",
    "axios",
    "axios/1.7.2",
    "okhttp",
    "okhttp/4.12.0",
    "Java/1.8.0_392",
    "Java-http-client/17.0.9",
    "Apache-HttpClient",
    "Apache-HttpClient/UNAVAILABLE (Java/1.4)",
    "Apache-HttpAsyncClient/4.1.5 (Java/17)",
    "libwww-perl/6.72",
    "PHP/8.3.0",
    "PHPCrawl",
    "GuzzleHttp/7",
    "GuzzleHttp/6.5.5 curl/7.58.0 PHP/7.2.24",
    "Ruby",
    "Ruby/3.3.0",
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
  ];

  for (const userAgent of userAgents) {
    test(userAgent || "an empty one", () => {
      expect(isMachineRequest({ "user-agent": userAgent })).toBe(true);
    });
  }

  test("a request without a User-Agent header is a machine", () => {
    expect(isMachineRequest({})).toBe(true);
  });
});

describe("a machine is recognised by headers and method", () => {
  const headers: [name: string, value: string, isMachine: boolean][] = [
    ["Sec-Purpose", "prefetch", true],
    ["Sec-Purpose", "prefetch;prerender", true],
    ["Sec-Purpose", "prefetch;anonymous-client-ip", true],
    ["Purpose", "prefetch", true],
    ["Purpose", "preview", true],
    ["X-Purpose", "preview", true],
    ["X-Moz", "prefetch", true],
    ["Sec-Fetch-Dest", "image", false],
    ["Sec-Purpose", "", false],
  ];

  for (const [name, value, expected] of headers) {
    test(`${name}: ${value} ${expected ? "is a machine" : "is a person"}`, () => {
      expect(isMachineRequest({ "user-agent": CHROME, [name]: value })).toBe(expected);
    });
  }

  test("a HEAD request is a machine", () => {
    expect(isMachineRequest({ "user-agent": CHROME }, "HEAD")).toBe(true);
  });
});

test("every rule has a name", () => {
  expect(MACHINES.every(({ name }) => name !== "")).toBe(true);
});
