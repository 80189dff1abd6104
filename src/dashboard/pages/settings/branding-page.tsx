/** The logo and the colour of the pages for recipients, beside the preference page as they see it. */

import { Skeleton } from "@mantine/core";
import { useState } from "react";
import { Problem } from "../../ui/problem.tsx";
import { RoleNeeded } from "../../ui/role-needed.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { type BrandValues, brandValues } from "./brand-values.ts";
import { BrandingForm } from "./branding-form.tsx";
import { PreferencePreview } from "./preference-preview.tsx";
import { SettingsFrame } from "./settings-frame.tsx";
import { useProjectDetails } from "./use-project-details.ts";

export function BrandingPage() {
  const { data, error, isPending, refetch } = useProjectDetails();
  const isSlow = useDelayed(isPending);
  const [shown, setShown] = useState<BrandValues | null>(null);
  return (
    <SettingsFrame>
      <RoleNeeded role="ADMIN">
        {error !== null && data === undefined && (
          <Problem error={error} onRetry={() => void refetch()} />
        )}
        {data === undefined ? (
          isSlow && <Skeleton height={320} aria-busy="true" />
        ) : (
          <div className="branding">
            <BrandingForm key={data.id} project={data} onChange={setShown} />
            <PreferencePreview values={shown ?? brandValues(data)} language={data.language} />
          </div>
        )}
      </RoleNeeded>
    </SettingsFrame>
  );
}
