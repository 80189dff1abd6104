/** The form as people see it, a moment after the last change: on its page, in a frame that runs nothing. */

import { SegmentedControl } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { FormInput } from "../../../modules/forms/model.ts";
import { api, projectUrl } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { SteadyFrame } from "../../ui/steady-frame.tsx";

const SETTLED_MS = 400;
/** The server keeps the document of a preview for ten minutes. */
const RENEWED_MS = 8 * 60_000;

export function FormPreview({ body }: { body: FormInput }) {
  const text = JSON.stringify(body);
  const [settled] = useDebouncedValue(text, SETTLED_MS);
  const [scheme, setScheme] = useState("light");
  const { data, error } = useQuery({
    queryKey: ["form-draft", settled],
    queryFn: ({ signal }) => {
      const draft: unknown = JSON.parse(settled);
      return api.post<{ documentUrl: string }>("/forms/preview", draft, { signal });
    },
    gcTime: 0,
    retry: false,
    refetchInterval: RENEWED_MS,
  });
  // The form of the last answer stays while the next is loaded, or while a field has a fault.
  const [shownUrl, setShownUrl] = useState<string | null>(null);
  const newUrl = data?.documentUrl;
  useEffect(() => {
    if (newUrl !== undefined) setShownUrl(newUrl);
  }, [newUrl]);
  return (
    <section className="form-preview" aria-labelledby="form-preview">
      <div className="form-preview-head">
        <h2 id="form-preview">Preview</h2>
        <SegmentedControl
          size="xs"
          aria-label="Colours of the preview"
          value={scheme}
          onChange={setScheme}
          data={[
            { value: "light", label: "Light" },
            { value: "dark", label: "Dark" },
          ]}
        />
      </div>
      {error !== null && shownUrl === null && <Problem error={error} />}
      {error !== null && shownUrl !== null && (
        <p className="small muted">A field has a fault: the form is shown as it was before.</p>
      )}
      {shownUrl !== null && (
        <div className="form-stage">
          <SteadyFrame
            title="Preview of the form"
            isDark={scheme === "dark"}
            src={projectUrl(shownUrl)}
          />
        </div>
      )}
    </section>
  );
}
