import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { useMay } from "../state.ts";
import { Confirm } from "./confirm.tsx";

/** Deletes the object of a page after a question; editors have it. */
export function DeleteButton(props: {
  /** The word for the object, such as "contact". */
  noun: string;
  /** The sentence that says which data is lost and which data stays. */
  children: ReactNode;
  onDelete: () => Promise<void>;
}) {
  const { noun, children, onDelete } = props;
  const [isAsking, asking] = useDisclosure(false);
  const mayDelete = useMay("EDITOR");
  if (!mayDelete) return null;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Trash2 size={15} aria-hidden />}
        onClick={asking.open}
      >
        Delete
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={asking.close}
        title={`Delete this ${noun}?`}
        text={children}
        action={`Delete the ${noun}`}
        onConfirm={onDelete}
      />
    </>
  );
}
