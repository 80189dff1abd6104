import { useForm } from "@mantine/form";
import { type FormEvent, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { ApiError, newIdempotencyKey } from "../api.ts";

/**
 * A form whose fields the server validates. `submit` sends the values with the given idempotency key,
 * which is made when the form opens and again after each success, so a double click or a lost
 * response never repeats the action. A 422 response shows its messages at their fields and moves the
 * focus to the first; any other error, and messages for fields that the form does not have, are in
 * `error`, for a `Problem` above the buttons.
 *
 *     const form = useApiForm({ initial: { name: "" }, submit: (values, key) => api.post(…) });
 *     <form onSubmit={form.onSubmit}><TextInput label="Name" {...form.field("name")} /></form>
 */
export function useApiForm<T extends Record<string, unknown>, R>(options: {
  initial: T;
  submit: (values: T, idempotencyKey: string) => Promise<R>;
  onDone?: (result: R) => void | Promise<void>;
}) {
  const { initial, submit, onDone } = options;
  const form = useForm<T>({ initialValues: initial });
  const key = useRef(newIdempotencyKey());
  const isRunning = useRef(false);
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);

  function showError(caught: unknown, element: EventTarget): void {
    const faults = caught instanceof ApiError ? caught.errors : [];
    const shown = faults.filter(({ field }) => Object.hasOwn(form.getValues(), topOf(field)));
    // The fields are marked as invalid before the first of them gets the focus.
    flushSync(() => {
      form.setErrors(
        Object.fromEntries(shown.map(({ field, message }) => [topOf(field), sentenceOf(message)])),
      );
      if (shown.length === 0 || shown.length < faults.length) setError(caught);
    });
    focusFirstError(element);
  }

  async function run(element: EventTarget): Promise<void> {
    if (isRunning.current) return;
    isRunning.current = true;
    setIsBusy(true);
    setError(null);
    form.clearErrors();
    try {
      const result = await submit(form.getValues(), key.current);
      key.current = newIdempotencyKey();
      await onDone?.(result);
    } catch (caught) {
      // The same key with another body would be refused.
      if (caught instanceof ApiError && caught.status !== 0) key.current = newIdempotencyKey();
      showError(caught, element);
    } finally {
      isRunning.current = false;
      setIsBusy(false);
    }
  }

  return {
    form,
    isBusy,
    /** An error that belongs to no field; null without one. */
    error,
    field: form.getInputProps,
    values: form.values,
    onSubmit(event: FormEvent<HTMLFormElement>): void {
      event.preventDefault();
      // The form of a dialog may be inside another form, which React would submit as well.
      event.stopPropagation();
      void run(event.currentTarget);
    },
  };
}

function focusFirstError(element: EventTarget): void {
  if (!(element instanceof HTMLFormElement)) return;
  element.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

const topOf = (field: string) => field.split(".")[0] ?? "";

/** The messages of the interface are predicates such as `is required`. */
function sentenceOf(message: string): string {
  return `This ${message}.`;
}
