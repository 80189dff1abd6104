/** The menu of further actions in the header of an object's page. The last one deletes the object. */

import { ActionIcon, Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { CopyPlus, Ellipsis, Trash2 } from "lucide-react";
import type { ReactNode } from "react";
import { Confirm } from "./confirm.tsx";

export function ObjectMenu(props: {
  /** The word for the object, such as "template". */
  noun: string;
  /** The width in pixels, by the longest entry. */
  width: number;
  /** Entries before the others. */
  children?: ReactNode;
  onDuplicate: () => Promise<void>;
  /** Null for an object that cannot be deleted now. */
  deletion: {
    /** The sentence that says which data is lost and which data stays. */
    text: string;
    run: () => Promise<void>;
  } | null;
}) {
  const { noun, width, children, onDuplicate, deletion } = props;
  const [isAsking, question] = useDisclosure(false);
  return (
    <>
      <Menu position="bottom-end" width={width}>
        <Menu.Target>
          <ActionIcon size={36} variant="default" aria-label="More actions">
            <Ellipsis size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {children}
          <Menu.Item
            leftSection={<CopyPlus size={15} aria-hidden />}
            onClick={() => void onDuplicate()}
          >
            Duplicate
          </Menu.Item>
          {deletion !== null && (
            <Menu.Item
              color="red"
              leftSection={<Trash2 size={15} aria-hidden />}
              onClick={question.open}
            >
              Delete
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {deletion !== null && (
        <Confirm
          isOpen={isAsking}
          onClose={question.close}
          title={`Delete this ${noun}?`}
          text={deletion.text}
          action={`Delete the ${noun}`}
          onConfirm={deletion.run}
        />
      )}
    </>
  );
}
