import type { MessageDetail } from "../../../modules/inboxes/model.ts";
import { projectUrl } from "../../api.ts";
import { PartList } from "../../ui/message/part-list.tsx";
import type { MessagePlace } from "./use-message.ts";
import { messagePath } from "./use-messages.ts";

export function PartsTab({ place, message }: { place: MessagePlace; message: MessageDetail }) {
  const base = messagePath(place.inbox, place.id);
  const parts = message.parts.map(({ partId, inline, ...part }) => ({
    ...part,
    id: partId,
    isInline: inline,
    url: projectUrl(`${base}/parts/${encodeURIComponent(partId)}`),
  }));
  return <PartList parts={parts} />;
}
