/** The dialog in which a user sends a first mail, such as to see what the server does with it. */

import { useAppState } from "../state.ts";
import { FirstMail } from "../pages/entry/first-mail.tsx";
import { Dialog } from "./dialog.tsx";

export function SendYourself(props: { isOpen: boolean; onClose: () => void; project: string }) {
  const { isOpen, onClose, project } = props;
  const { user } = useAppState();
  if (user === null) return null;
  return (
    <Dialog opened={isOpen} onClose={onClose} title="Send yourself a mail" size="sm">
      <FirstMail project={project} to={user.email} />
    </Dialog>
  );
}
