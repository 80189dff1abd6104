import { Modal, type ModalProps } from "@mantine/core";
import { createContext, useContext, useLayoutEffect, useState } from "react";
import { useLayer } from "./layers.ts";

const Busy = createContext<(isBusy: boolean) => void>(() => undefined);

/**
 * A modal dialog with a form. While the request of the form runs, it stays open: its answer may be an
 * error, which a closed dialog would not show.
 */
export function Dialog(props: ModalProps & { isBusy?: boolean }) {
  const { onClose, isBusy = false, closeOnEscape = true, ...rest } = props;
  const [isFormBusy, setIsFormBusy] = useState(false);
  function close(): void {
    if (!isBusy && !isFormBusy) onClose();
  }
  useLayer(rest.opened, closeOnEscape ? close : null, true);
  return (
    <Busy value={setIsFormBusy}>
      <Modal {...rest} onClose={close} />
    </Busy>
  );
}

/**
 * Tells the dialog around the form whether its request runs, before anything is drawn: Esc is often
 * pressed right after Enter.
 */
export function useBusyDialog(isBusy: boolean): void {
  const report = useContext(Busy);
  useLayoutEffect(() => {
    report(isBusy);
    return () => report(false);
  }, [report, isBusy]);
}
