/** The variables that a template needs. */

import type { Template, TemplateUsage } from "../../../modules/templates/model.ts";
import { Loaded } from "../../ui/loaded.tsx";
import { Status, type Tone } from "../../ui/status.tsx";
import { useUsage } from "./use-usage.ts";

type Placeholder = TemplateUsage["placeholders"][number];

export function VariablesTab({ template }: { template: Template }) {
  return (
    <Loaded query={useUsage(template)}>
      {({ placeholders }) =>
        placeholders.length === 0 ? (
          <p className="muted">This template has no variables: everybody gets the same mail.</p>
        ) : (
          <div className="template">
            <p className="muted small">
              Values come from the request that sends the mail and from the data of the contact.
            </p>
            <table className="template-table">
              <thead>
                <tr>
                  <th scope="col">Variable</th>
                  <th scope="col">Value</th>
                  <th scope="col">Without a value</th>
                </tr>
              </thead>
              <tbody>
                {placeholders.map((placeholder) => (
                  <tr key={placeholder.name}>
                    <th scope="row">
                      <code>{placeholder.name}</code>
                    </th>
                    <td>
                      <Status tone={needOf(placeholder).tone}>{needOf(placeholder).word}</Status>
                    </td>
                    <td className="muted">{needOf(placeholder).text}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }
    </Loaded>
  );
}

type Need = { tone: Tone; word: string; text: string };

function needOf({ isProvided, isRequired }: Placeholder): Need {
  if (isProvided) return { tone: "good", word: "Built in", text: "Mailstead always fills it." };
  return isRequired
    ? { tone: "held", word: "Required", text: "The mail has a gap at this place." }
    : {
        tone: "waiting",
        word: "Optional",
        text: "The template shows another text or leaves a part out.",
      };
}
