/** The login: a page of its own at first, and a dialog above the view when a session has ended. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { logIn, ServerError } from "./server.ts";

function LoginForm() {
  const [token, setToken] = useState("");
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const id = useId();
  const submit = async (): Promise<void> => {
    setBusy(true);
    setFailure(undefined);
    try {
      await logIn(token);
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      setFailure(error.hint === undefined ? error.message : `${error.message}: ${error.hint}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label for={id}>Token</label>
      <input
        id={id}
        type="password"
        name="token"
        autocomplete="current-password"
        required
        value={token}
        aria-describedby={`${id}-hint`}
        onInput={({ currentTarget }) => setToken(currentTarget.value)}
      />
      <p class="muted" id={`${id}-hint`}>
        The terminal of <code>retinue demo</code> and <code>retinue dev</code> prints it beside the console's address. Elsewhere it is the
        value of <code>RETINUE_CONSOLE_TOKEN</code>, or your own token under <code>console.people</code>.
      </p>
      {failure !== undefined && (
        <p class="notice bad" role="alert">
          {failure}
        </p>
      )}
      <button type="submit" class="primary" disabled={busy || token === ""}>
        {busy ? "Logging in…" : "Log in"}
      </button>
    </form>
  );
}

export function LoginPage({ why }: { readonly why: string | undefined }) {
  useEffect(() => void (document.title = "Log in · Retinue"), []);
  return (
    <main class="login">
      <h1>Retinue</h1>
      <p>The Guardian's console of this runtime.</p>
      {why !== undefined && (
        <p class="notice bad" role="alert">
          {why}
        </p>
      )}
      <LoginForm />
    </main>
  );
}

/** The view beneath stays as it is, with everything typed into it. */
export function LoginDialog({ who }: { readonly who: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="login-title" onCancel={(event) => event.preventDefault()}>
      <h2 id="login-title">The session of {who} has ended</h2>
      <p>Log in to go on. Everything that you typed is still there.</p>
      <LoginForm />
    </dialog>
  );
}
