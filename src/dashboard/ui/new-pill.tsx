import { Button } from "@mantine/core";
import { ArrowUp } from "lucide-react";
import { useRef } from "react";
import { MAX_COUNTED } from "./use-live-list.ts";

/** New rows of the table that follows wait behind this button, so that no row moves under the pointer. */
export function NewPill({ count, onShow }: { count: number; onShow: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const text = `${count >= MAX_COUNTED ? `${MAX_COUNTED}+` : count} new`;
  function show(): void {
    onShow();
    place.current?.parentElement?.querySelector(".table-scroll")?.scrollTo({ top: 0 });
  }
  return (
    <div className="new-pill" role="status" aria-live="polite" ref={place}>
      {count > 0 && (
        <Button size="compact-sm" radius="xl" leftSection={<ArrowUp size={14} />} onClick={show}>
          {text}
        </Button>
      )}
    </div>
  );
}
