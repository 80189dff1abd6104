/** The pause of a contact, in its card of the subscription. */

import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import type { Contact } from "../../../modules/contacts/model.ts";
import { api } from "../../api.ts";
import { useNow } from "../../ui/time.tsx";
import { showFailure } from "../../ui/undo.tsx";
import { useContactRefresh } from "./use-contact.ts";

const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY_MS = 24 * 60 * 60_000;
const LENGTHS = [
  { label: "For a week", days: 7 },
  { label: "For 30 days", days: 30 },
  { label: "For 90 days", days: 90 },
] as const;

export function Pause({ contact, mayChange }: { contact: Contact; mayChange: boolean }) {
  const { id, pausedUntil } = contact;
  const nowMs = useNow();
  const refresh = useContactRefresh(id);
  const [isBusy, setIsBusy] = useState(false);
  const isPaused = pausedUntil !== undefined && Date.parse(pausedUntil) > nowMs;

  async function set(until: string | null): Promise<void> {
    setIsBusy(true);
    try {
      await api.patch(`/contacts/${id}`, { pausedUntil: until });
      await refresh();
    } catch (error) {
      showFailure("The pause was not changed", error);
    } finally {
      setIsBusy(false);
    }
  }

  if (isPaused) {
    return (
      <p className="contact-pause small">
        <span>
          Paused: gets no marketing mail until{" "}
          <time dateTime={pausedUntil}>{date.format(new Date(pausedUntil))}</time>.
        </span>
        {mayChange && (
          <Button
            size="compact-xs"
            variant="default"
            loading={isBusy}
            onClick={() => void set(null)}
          >
            End the pause
          </Button>
        )}
      </p>
    );
  }
  if (!mayChange) return null;
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button size="compact-xs" variant="subtle" loading={isBusy} className="contact-pause">
          Pause marketing mail
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {LENGTHS.map(({ label, days }) => (
          <Menu.Item
            key={days}
            onClick={() => void set(new Date(Date.now() + days * DAY_MS).toISOString())}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
