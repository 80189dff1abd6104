/** The side bar on phones. */

import { Drawer } from "@mantine/core";
import { Sidebar } from "./sidebar.tsx";
import { useLayer } from "./ui/layers.ts";

export function MenuDrawer(props: { isOpen: boolean; onClose: () => void; onSearch: () => void }) {
  const { isOpen, onClose, onSearch } = props;
  useLayer(isOpen, onClose);
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
