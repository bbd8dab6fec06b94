;;; package-test.el --- The package for Emacs with a real server  -*- lexical-binding: t -*-

;;; Commentary:

;; Run by run.sh in a folder of its own.  PACKAGE is the file of the package.

;;; Code:

(require 'bytecomp)
(require 'checkdoc)
(require 'cl-lib)
(require 'lisp-mnt)

(defvar package-file (getenv "PACKAGE"))

(let ((copy (expand-file-name "xcsh-ls.el" (make-temp-file "package" t)))
      (byte-compile-error-on-warn t))
  (copy-file package-file copy)
  (check "the package compiles without warnings" (byte-compile-file copy)
         (with-current-buffer (get-buffer-create byte-compile-log-buffer) (buffer-string)))
  (load (concat copy "c") nil t))

(let (found)
  (with-current-buffer (find-file-noselect package-file)
    (let ((checkdoc-create-error-function
           (lambda (text start _end &optional _unfixable)
             (push (format "%d: %s" (if start (line-number-at-pos start) 0) text) found)
             nil)))
      (checkdoc-current-buffer t))
    (check "its header names a version and its requirements"
           (and (lm-version) (lm-header "package-requires") (lm-commentary)))
    (kill-buffer))
  (check "checkdoc finds nothing" (null found) found))

(defvar messages nil "The messages of Emacs, newest first.")
(advice-add 'message :before
            (lambda (format &rest arguments)
              (when format (push (apply #'format-message format arguments) messages))))
(defun shown (text)
  "Wait until a message has TEXT."
  (until (lambda () (cl-some (lambda (m) (string-match-p text m)) messages))))

(defvar answers nil "The answers to questions of the server, in order.")
(advice-add 'completing-read :override
            (lambda (_prompt choices &rest _)
              (let ((answer (pop answers)))
                (cl-find-if (lambda (c) (string-match-p answer c)) (all-completions "" choices)))))

(setq eglot-sync-connect 20
      eglot-autoshutdown nil
      xcsh-ls-arguments '("--stdio" "--model" "offline/demo"))

(condition-case failure
    (progn
      (check "a command without a server is a user error"
             (condition-case nil (progn (xcsh-ls-new) nil) (user-error t)))
      (find-file "notes.md")
      (unless (derived-mode-p 'text-mode) (text-mode))
      (check "text buffers start the server with eglot" (rassq #'xcsh-ls-contact eglot-server-programs))
      (xcsh-ls-start)
      (check "xcsh-ls-start starts the server" (xcsh-ls-server-p (eglot-current-server)))

      (xcsh-ls-prompt "look at notes.md")
      (check "xcsh-ls-prompt doesn't wait" (null (get-buffer "*xcsh-ls*")))
      (check "and shows the conversation"
             (until (lambda ()
                      (and (get-buffer "*xcsh-ls*")
                           (with-current-buffer "*xcsh-ls*"
                             (string-match-p "look at notes.md" (buffer-string)))))))

      (xcsh-ls-new)
      (check "xcsh-ls-new reports its end" (shown "New session"))
      (check "the new session has no messages" (equal 0 (plist-get (xcsh-ls-request "xcsh.state") :messageCount)))

      (setq answers (list "look at notes"))
      (xcsh-ls-resume)
      (check "xcsh-ls-resume asks, and reports its end" (shown "Session resumed"))
      (check "the session is resumed" (equal 4 (plist-get (xcsh-ls-request "xcsh.state") :messageCount)))

      (with-current-buffer (find-file-noselect "program.el")
        (xcsh-ls-execute "xcsh.fork")
        (check "a command runs in another buffer of the project" (shown "xcsh.fork: done")))
      (check "the fork is a session" (= 2 (length (plist-get (xcsh-ls-request "xcsh.list") :sessions))))

      (xcsh-ls-export)
      (check "xcsh-ls-export reports the file" (shown "Exported to .*\\.html"))

      (xcsh-ls-request-async #'ignore "xcsh.resume" :target "no such session")
      (check "a failure is a message" (shown "xcsh.resume: .*no such session") messages)
      (eglot-shutdown (eglot-current-server)))
  (error (check "no error" nil failure)))

(message "%d passed, %d failed" passed failed)
(kill-emacs (if (zerop failed) 0 1))

;;; package-test.el ends here
