import type { Samples } from "../../ui/code.tsx";

/** The request that creates a template, by language. */
export function templateSamples(url: string): Samples {
  const body = `{
  "name": "Receipt",
  "subject": "Your order {{ order }}",
  "body": "<p>Thank you, {{ name ?? friend }}.</p>",
  "type": "TRANSACTIONAL"
}`;
  return {
    curl: `curl ${url}/templates \\
  -H "Authorization: Bearer $MAILSTEAD_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${body}'`,
    TypeScript: `await fetch("${url}/templates", {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.MAILSTEAD_KEY}\`,
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${body.replaceAll("\n", "\n  ")}),
});`,
    Python: `requests.post(
    "${url}/templates",
    headers={"Authorization": f"Bearer {os.environ['MAILSTEAD_KEY']}"},
    json=${body.replaceAll("\n", "\n    ")},
)`,
  };
}
