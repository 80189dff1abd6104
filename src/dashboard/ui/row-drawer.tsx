import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Confirm } from "./confirm.tsx";
import { SideDrawer } from "./side-drawer.tsx";
import type { List } from "./use-list.ts";
import { useOpenRow } from "./use-open-row.ts";

type Row = { id: string; name: string };

/**
 * The drawer of a row of a list that is read as a whole, with a button that deletes the row after a
 * question. It takes the row from the list.
 */
export function RowDrawer<T extends Row>(props: {
  /** Absent: the drawer is closed. */
  id: string | undefined;
  list: List<T>;
  /** The word for a row, such as "mailbox". */
  noun: string;
  queryKey: string;
  /** The effects of deleting a row. */
  effect: (row: T) => string;
  onDelete: (id: string) => Promise<unknown>;
  onOpen: (id: string) => void;
  onClose: () => void;
  children: (row: T) => ReactNode;
}) {
  const { id, list, noun, onOpen, onClose } = props;
  const client = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const { found, last, next, previous } = useOpenRow(id, list.rows);
  const row = id === undefined ? last : found;
  const title = noun.charAt(0).toUpperCase() + noun.slice(1);

  async function remove(): Promise<void> {
    if (found === undefined) return;
    await props.onDelete(found.id);
    onClose();
    await client.invalidateQueries({ queryKey: [props.queryKey] });
  }

  return (
    <>
      <SideDrawer
        isOpen={id !== undefined && !list.isLoading}
        onClose={onClose}
        label={title}
        size={600}
        title={<h2 className="drawer-heading">{row?.name ?? title}</h2>}
        onNext={next === undefined ? undefined : () => onOpen(next)}
        onPrevious={previous === undefined ? undefined : () => onOpen(previous)}
      >
        {row === undefined ? (
          <p className="muted">
            This {noun} does not exist. It may have been deleted, or the address is wrong.
          </p>
        ) : (
          <>
            {props.children(row)}
            <Button
              variant="default"
              leftSection={<Trash2 size={15} aria-hidden />}
              onClick={() => setIsAsking(true)}
            >
              Delete the {noun}
            </Button>
          </>
        )}
      </SideDrawer>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Delete ${row?.name ?? ""}?`}
        text={<p>{row === undefined ? null : props.effect(row)}</p>}
        action={`Delete the ${noun}`}
        onConfirm={remove}
      />
    </>
  );
}
