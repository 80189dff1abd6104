/** The side bar on phones. */

import { Drawer } from "@mantine/core";
import { Sidebar } from "./sidebar.tsx";

export function MenuDrawer(props: { isOpen: boolean; onClose: () => void; onSearch: () => void }) {
  const { isOpen, onClose, onSearch } = props;
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
      <Sidebar onSearch={onSearch} />
    </Drawer>
  );
}
