import type { Samples } from "../../ui/code.tsx";

/** The request that creates a campaign, by language. */
export function campaignSamples(url: string): Samples {
  const body = `{
  "name": "Spring news",
  "subject": "News for {{ name ?? you }}",
  "body": "<p>Hello {{ name ?? there }}</p>",
  "from": "news@your-domain.example",
  "audienceType": "ALL"
}`;
  return {
    curl: `curl ${url}/campaigns \\
  -H "Authorization: Bearer $MAILSTEAD_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
    TypeScript: `await fetch("${url}/campaigns", {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.MAILSTEAD_KEY}\`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${body.replaceAll("\n", "\n  ")}),
});`,
    Python: `requests.post(
    "${url}/campaigns",
    headers={"Authorization": f"Bearer {os.environ['MAILSTEAD_KEY']}"},
    json=${body.replaceAll("\n", "\n    ")},
)`,
  };
}
