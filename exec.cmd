@rem Scripts of npm say `exec` so that a signal to npm reaches what runs. This is that word for Windows, where there is none.
@%*
