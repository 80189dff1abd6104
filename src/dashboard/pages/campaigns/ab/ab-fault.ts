/** The faults of an A/B test that the server has found. */

import { ApiError } from "../../../api.ts";
import type { CampaignEditing } from "../editor/campaign-source.ts";

/** The fault that the server found in a field when it refused to save. */
export function serverFault({ error }: Pick<CampaignEditing, "error">, name: string) {
  if (!(error instanceof ApiError)) return undefined;
  const message = error.errors.find(({ field }) => field === name)?.message;
  return message === undefined ? undefined : `This ${message}.`;
}
