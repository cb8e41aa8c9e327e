/** An application of the SDK with a fake model, the instructions of a clerk and a tool. */

import {
  ToolLoopAgent,
  generateText,
  isStepCount,
  streamText,
  tool,
  wrapLanguageModel,
  type ModelMessage,
} from "ai";
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { MockLanguageModelV4 } from "ai/test";
import { incumbentMiddleware, type IncumbentCallOptions, type IncumbentOptions } from "@incumbent/ai-sdk";
import { z } from "zod";

import { ask } from "./serving.js";

export const MODES = ["generateText", "streamText", "agent.generate", "agent.stream"] as const;
export type Mode = (typeof MODES)[number];

export const INSTRUCTIONS = "You are a clerk.";
export const IN_STOCK = "60 desks are in stock.";

/** A reply that calls the tool `stock`. */
export class Calls {
  constructor(readonly shipTo: string) {}
}

/** The model cannot be reached. */
export class Fails {}

/** The model does not answer until somebody gives up. */
export class Hangs {}

/** The model breaks off in the middle of a stream, or says that it failed. */
export class BreaksOff {
  constructor(readonly text: string) {}
}

export type Reply = string | Calls | Fails | Hangs | BreaksOff | LanguageModelV4Content[];

export class NoAnswer extends Error {}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

export class Chat {
  /** Every word that the model was sent, call by call. */
  readonly sent: string[] = [];
  /** The calls themselves. */
  readonly calls: LanguageModelV4CallOptions[] = [];
  /** The application's own messages of each conversation. */
  readonly histories = new Map<string, ModelMessage[]>();
  readonly warnings: string[] = [];
  /** What the tool gives back. */
  result: unknown = IN_STOCK;
  private replies: Reply[] = [];
  private hanging = () => {};
  private callIds = 0;
  readonly model;
  private readonly tools;

  constructor(
    readonly url: string,
    readonly who: IncumbentCallOptions,
    options: IncumbentOptions = {},
  ) {
    const fake = new MockLanguageModelV4({
      doGenerate: async (given) => ({ ...(await this.next(given)), usage: USAGE, warnings: [] }),
      doStream: async (given) => {
        const { content, finishReason } = await this.next(given);
        return { stream: streamed(content, finishReason) };
      },
    });
    const middleware = incumbentMiddleware({
      url,
      warn: (told) => this.warnings.push(told),
      ...options,
    });
    this.model = wrapLanguageModel({ model: fake, middleware });
    this.tools = {
      stock: tool({
        description: "How many are in stock.",
        inputSchema: z.object({ shipTo: z.string() }),
        execute: async () => this.result,
      }),
    };
  }

  /** Let a person say something, and wait for the answer; the prompt of the last call. */
  async say(
    mode: Mode,
    text: string,
    replies: Reply[],
    who: IncumbentCallOptions = {},
    signal?: AbortSignal,
  ): Promise<string> {
    this.replies.push(...replies);
    const caller = { ...this.who, ...who };
    const history = this.history(caller);
    const messages: ModelMessage[] = [...history, { role: "user", content: text }];
    const answered = await this.run(mode, messages, caller, signal);
    history.push({ role: "user", content: text }, ...answered);
    if (this.replies.length) throw new Error(`replies are left: ${this.replies.length}`);
    return this.sent.at(-1)!;
  }

  /** Answer messages as they are, whoever keeps them. */
  async run(
    mode: Mode,
    messages: ModelMessage[],
    caller: IncumbentCallOptions,
    signal?: AbortSignal,
  ): Promise<ModelMessage[]> {
    const providerOptions = { incumbent: caller as Record<string, any>, other: { kept: true } };
    const { model, tools } = this;
    const aborting = signal === undefined ? {} : { abortSignal: signal };
    const fixed = {
      model,
      tools,
      instructions: INSTRUCTIONS,
      stopWhen: isStepCount(5),
      maxRetries: 0,
      providerOptions,
    };
    if (mode === "generateText") {
      return (await generateText({ ...fixed, messages, ...aborting })).responseMessages;
    }
    if (mode === "agent.generate") {
      return (await new ToolLoopAgent(fixed).generate({ messages, ...aborting })).responseMessages;
    }
    let failed: unknown;
    const onError = ({ error }: { error: unknown }): void => void (failed ??= error);
    const result =
      mode === "streamText"
        ? streamText({ ...fixed, messages, onError, ...aborting })
        : await new ToolLoopAgent({ ...fixed, onError }).stream({ messages, ...aborting });
    for await (const part of result.stream) {
      if (part.type === "error") failed ??= part.error;
      if (part.type === "abort") failed ??= signal?.reason;
    }
    if (failed !== undefined) throw failed;
    return await result.responseMessages;
  }

  history(who: IncumbentCallOptions = this.who): ModelMessage[] {
    const name = [who.organization, who.userId, who.sessionId].join("/");
    if (!this.histories.has(name)) this.histories.set(name, []);
    return this.histories.get(name)!;
  }

  /** Resolved once a model hangs. */
  hangs(): Promise<void> {
    return new Promise((done) => (this.hanging = done));
  }

  /** What was said in the session, as it is on record. */
  async turns(who: IncumbentCallOptions = this.who): Promise<[string, string][]> {
    const items: { key: string; value: string }[] = await ask(this.url, "working_set", {
      session: form(who),
    });
    return items.map((item) => [/\((.*)\)/.exec(item.key)![1]!, item.value]);
  }

  private async next(given: LanguageModelV4CallOptions) {
    this.calls.push(given);
    this.sent.push(JSON.stringify(given.prompt));
    const reply = this.replies.shift();
    if (reply === undefined) throw new Error("no reply is left");
    if (reply instanceof Fails) throw new NoAnswer("the model cannot be reached");
    if (reply instanceof Hangs) {
      this.hanging();
      await new Promise((_, refuse) =>
        given.abortSignal?.addEventListener("abort", () => refuse(given.abortSignal!.reason)),
      );
    }
    return this.made(reply);
  }

  private made(reply: Reply) {
    const stop = { unified: "stop" as const, raw: "stop" };
    if (reply instanceof Calls) {
      const toolCallId = `call-${(this.callIds += 1)}`;
      const input = JSON.stringify({ shipTo: reply.shipTo });
      const content: LanguageModelV4Content[] = [
        { type: "text", text: "Let me look." },
        { type: "tool-call", toolCallId, toolName: "stock", input },
      ];
      return { content, finishReason: { unified: "tool-calls" as const, raw: "tool_calls" } };
    }
    if (reply instanceof BreaksOff) {
      const content: LanguageModelV4Content[] = [{ type: "text", text: reply.text }];
      return { content, finishReason: { unified: "error" as const, raw: "error" } };
    }
    const content: LanguageModelV4Content[] = Array.isArray(reply)
      ? reply
      : [{ type: "text", text: `${reply}` }];
    return { content, finishReason: stop };
  }
}

/** A session as the service takes it. */
export function form(who: IncumbentCallOptions): object {
  return { user_id: who.userId, organization: who.organization, session_id: who.sessionId };
}

/** A reply piece by piece. */
function streamed(
  content: LanguageModelV4Content[],
  finishReason: any,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts: LanguageModelV4StreamPart[] = [{ type: "stream-start", warnings: [] }];
  for (const [number, part] of content.entries()) {
    if (part.type !== "text") {
      parts.push(part as LanguageModelV4StreamPart);
      continue;
    }
    const id = `${number}`;
    parts.push({ type: "text-start", id });
    for (const delta of part.text.match(/[^]{1,7}/g) ?? [])
      parts.push({ type: "text-delta", id, delta });
    parts.push({ type: "text-end", id });
  }
  parts.push({ type: "finish", finishReason, usage: USAGE });
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
