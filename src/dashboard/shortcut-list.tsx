/** The dialog with all shortcuts, opened by `?`. */

import { Kbd, Switch } from "@mantine/core";
import { navigationOf } from "./navigation.ts";
import { setShortcutsOn, useAreShortcutsOn } from "./shortcuts.ts";
import { useAppState, useNavigationProject } from "./state.ts";
import { Dialog } from "./ui/dialog.tsx";

const GENERAL = [
  ["Command palette", "Ctrl K"],
  ["Search the list", "/"],
  ["Next and previous row", "j k"],
  ["Open the row", "Enter"],
  ["Select the row", "x"],
  ["Close", "Esc"],
  ["This list", "?"],
] as const;

export function ShortcutList({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const state = useAppState();
  const project = useNavigationProject();
  const isOn = useAreShortcutsOn();
  const pages = navigationOf(state, project)
    .flat()
    .flatMap(({ label, key }) => (key === undefined ? [] : [[label, `g ${key}`] as const]));
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Keyboard shortcuts" size="sm">
      <dl className="shortcut-list">
        {[...GENERAL, ...pages].map(([name, keys]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>
              {keys.split(" ").map((key) => (
                <Kbd key={key} ml={4}>
                  {key}
                </Kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <Switch
        mt="lg"
        label="Shortcuts of single keys"
        checked={isOn}
        onChange={({ currentTarget }) => setShortcutsOn(currentTarget.checked)}
      />
    </Dialog>
  );
}
