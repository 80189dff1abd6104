/** The side bar on phones. */

import { Drawer } from "@mantine/core";
import { Sidebar } from "./sidebar.tsx";

export function MenuDrawer({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      size={280}
      padding={0}
      withCloseButton={false}
      attributes={{ content: { "aria-label": "Menu" } }}
      classNames={{ body: "side-drawer", content: "side-drawer" }}
    >
      <Sidebar />
    </Drawer>
  );
}
