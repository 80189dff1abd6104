/** Tags that replace tags of the library, to limit their work or to escape correctly. */

import { CaptureTag, type Context, type Emitter, LiquidTag, Tag, TagToken, Value } from "liquidjs";
import { BoundedEmitter } from "./limits.ts";
import { Markup } from "./markup.ts";

/** Turns the value of an output into the text or object that is written. */
export type Escape = (value: unknown) => unknown;

/** Refuses, when the template is parsed, a tag that loads other files. */
export class FileTag extends Tag {
  constructor(...args: ConstructorParameters<typeof Tag>) {
    super(...args);
    throw new Error(`tag "${this.name}" is not available: a template cannot load other files`);
  }

  render(): void {}
}

/** `{% # comment %}`, checked in linear time; the library's own check takes quadratic time. */
export class LineCommentTag extends Tag {
  constructor(...[token, tokens, liquid]: ConstructorParameters<typeof Tag>) {
    super(token, tokens, liquid);
    const lines = token.args.split("\n").slice(1);
    const isComment = (line: string) => line === "" || line.startsWith("#");
    if (!lines.every((line) => isComment(line.trimStart()))) {
      throw new Error("every line of an inline comment must start with a '#' character");
    }
  }

  render(): void {}
}

/**
 * `{% liquid %}` with one tag on each line. A `liquid` tag inside another one is refused: it means
 * the same as its lines, and nested tags on one line would be read once per level.
 */
export class SingleLiquidTag extends LiquidTag {
  constructor(...args: ConstructorParameters<typeof LiquidTag>) {
    if (!(args[0] instanceof TagToken)) {
      throw new Error('tag "liquid" cannot be nested in another liquid tag');
    }
    super(...args);
  }
}

/** Refuses, when the template is parsed, a tag that this kind of template does not support. */
export class UnavailableTag extends Tag {
  constructor(...args: ConstructorParameters<typeof Tag>) {
    super(...args);
    throw new Error(`tag "${this.name}" is not available in this kind of template`);
  }

  render(): void {}
}

/** Creates `{% echo x %}`, which always escapes like `{{ x }}`; the library's own tag does not. */
export function echoTag(escape: Escape) {
  return class EchoTag extends Tag {
    readonly #value: Value;

    constructor(...[token, tokens, liquid]: ConstructorParameters<typeof Tag>) {
      super(token, tokens, liquid);
      this.#value = new Value(this.tokenizer.readFilteredValue(), liquid);
    }

    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const value = yield this.#value.value(context, false);
      const isRaw = this.#value.filters.at(-1)?.raw ?? false;
      emitter.write(isRaw ? value : escape(value));
    }
  };
}

/** `{% capture %}` with a limit on the length of its result. */
export class BoundedCaptureTag extends CaptureTag {
  override *render(context: Context): Generator<unknown, void, string> {
    const emitter = new BoundedEmitter();
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter);
    context.memoryLimit.use(emitter.buffer.length);
    this.store(context, emitter.buffer);
  }

  protected store(context: Context, text: string): void {
    Object.assign(context.bottom(), { [this.variable]: text });
  }
}

/** `{% capture %}` in HTML templates: the captured text is escaped already, so it is Markup. */
export class MarkupCaptureTag extends BoundedCaptureTag {
  protected override store(context: Context, text: string): void {
    Object.assign(context.bottom(), { [this.variable]: new Markup(text) });
  }
}
