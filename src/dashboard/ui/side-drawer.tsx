import { ActionIcon, Drawer } from "@mantine/core";
import { ChevronDown, ChevronUp, X } from "lucide-react";
import type { ReactNode } from "react";
import { useShortcuts } from "../shortcuts.ts";
import { useLayer } from "./layers.ts";

/**
 * A drawer at the right with one object of the list behind it. Esc closes it, `j` and `k` go to the
 * next and the previous object, and closing it returns the focus to where it was.
 */
export function SideDrawer(props: {
  isOpen: boolean;
  onClose: () => void;
  title: ReactNode;
  /** Names the dialog for screen readers. */
  label: string;
  /** Buttons beside the title. */
  actions?: ReactNode;
  /** Absent at the end of the list. */
  onNext?: (() => void) | undefined;
  onPrevious?: (() => void) | undefined;
  size?: number | string;
  children: ReactNode;
}) {
  const { isOpen, onClose, title, label, actions, onNext, onPrevious, size = 720 } = props;
  useShortcuts({ j: onNext ?? doNothing, k: onPrevious ?? doNothing }, isOpen, true);
  useLayer(isOpen, onClose);
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size={size}
      padding={0}
      withCloseButton={false}
      overlayProps={{ backgroundOpacity: 0.2 }}
      attributes={{ content: { "aria-label": label } }}
      classNames={{ content: "drawer", body: "drawer-body" }}
    >
      <header className="drawer-head">
        <div className="drawer-title">{title}</div>
        {actions}
        {(onNext !== undefined || onPrevious !== undefined) && (
          <>
            <ActionIcon aria-label="Previous" disabled={!onPrevious} onClick={onPrevious}>
              <ChevronUp size={18} />
            </ActionIcon>
            <ActionIcon aria-label="Next" disabled={!onNext} onClick={onNext}>
              <ChevronDown size={18} />
            </ActionIcon>
          </>
        )}
        <ActionIcon aria-label="Close" onClick={onClose}>
          <X size={18} />
        </ActionIcon>
      </header>
      <div className="drawer-content">{props.children}</div>
    </Drawer>
  );
}

const doNothing = () => undefined;
