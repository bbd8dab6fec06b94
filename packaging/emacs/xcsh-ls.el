;;; xcsh-ls.el --- Sessions of terminal coding agents through eglot  -*- lexical-binding: t -*-

;; Copyright (C) 2026 The xcsh-ls authors

;; Author: The xcsh-ls authors <noreply@xcsh-ls.invalid>
;; Maintainer: The xcsh-ls authors <noreply@xcsh-ls.invalid>
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Keywords: tools, convenience
;; URL: https://github.com/xcsh-ls/xcsh-ls
;; SPDX-License-Identifier: MIT

;; This file is not part of GNU Emacs.

;;; Commentary:

;; xcsh-ls is a language server for the sessions of xcsh, oh-my-pi and pi.  This
;; package registers it with eglot and defines commands for it.
;;
;; Install the program `xcsh-ls', run `xcsh-ls-start' in a text or Markdown
;; buffer of a project, and then `xcsh-ls-prompt', `xcsh-ls-resume' or
;; `xcsh-ls-execute', which runs any command of the server.  The server asks in
;; the minibuffer for what a command needs.
;;
;; Commands don't block Emacs: a message reports their end.

;;; Code:

(require 'eglot)
(require 'jsonrpc)
(require 'project)
(require 'seq)

(defgroup xcsh-ls nil
  "Sessions of terminal coding agents."
  :group 'tools
  :prefix "xcsh-ls-")

(defcustom xcsh-ls-program "xcsh-ls"
  "The language server: a program in variable `exec-path', or a path."
  :type 'string)

(defcustom xcsh-ls-arguments '("--stdio")
  "Arguments of the language server, such as \"--model\" and a model."
  :type '(repeat string))

;; Eglot runs one server in a buffer.
(defconst xcsh-ls-modes '(text-mode markdown-mode fundamental-mode)
  "Major modes of the buffers in which eglot starts the server.")

(defvar xcsh-ls-history nil
  "Minibuffer history of prompts.")

(defvar xcsh-ls-command-history nil
  "Minibuffer history of commands.")

(defun xcsh-ls-contact (&rest _)
  "Return the command line of the server."
  (cons xcsh-ls-program xcsh-ls-arguments))

;; At the end, so that a server for Markdown stays the one that `eglot' starts.
(add-to-list 'eglot-server-programs (cons xcsh-ls-modes #'xcsh-ls-contact) t)

(defun xcsh-ls-server-p (server)
  "Return non-nil if SERVER can run commands of xcsh-ls."
  (and server (jsonrpc-running-p server)
       (seq-contains-p (xcsh-ls-command-names server) "xcsh.prompt")))

(defun xcsh-ls-command-names (server)
  "Return the names of the commands that SERVER announced."
  (append (plist-get (plist-get (slot-value server 'capabilities) :executeCommandProvider) :commands)
          nil))

(defun xcsh-ls-server ()
  "Return the server of the buffer, or else that of another buffer of the project."
  (let ((project (project-current)))
    (or (seq-find #'xcsh-ls-server-p
                  (mapcar (lambda (buffer)
                            (with-current-buffer buffer (eglot-current-server)))
                          (cons (current-buffer)
                                (and project (seq-filter
                                              (lambda (buffer)
                                                (equal project
                                                       (with-current-buffer buffer (project-current))))
                                              (buffer-list))))))
        (user-error "No xcsh-ls is running here; run M-x xcsh-ls-start in a text or Markdown buffer"))))

(defun xcsh-ls-parameters (command arguments)
  "Return the parameters of a request to run COMMAND with ARGUMENTS."
  ;; An empty property list would become null, not an empty object.
  (list :command command :arguments (vector (or arguments (make-hash-table)))))

(defun xcsh-ls-request (command &rest arguments)
  "Run COMMAND of the server with ARGUMENTS, wait for its result, and return it.
ARGUMENTS are keywords and values, such as :text \"Hello\"."
  (jsonrpc-request (xcsh-ls-server) :workspace/executeCommand
                   (xcsh-ls-parameters command arguments)
                   :timeout nil))

(defun xcsh-ls-request-async (done command &rest arguments)
  "Run COMMAND with ARGUMENTS, and call DONE with its result.
A failure is a message."
  (jsonrpc-async-request (xcsh-ls-server) :workspace/executeCommand
                         (xcsh-ls-parameters command arguments)
                         :timeout nil
                         :success-fn done
                         :error-fn (lambda (failure)
                                     (message "%s: %s" command (plist-get failure :message)))))

(defun xcsh-ls-message (text)
  "Return a function that reports TEXT for any result."
  (lambda (_result) (message "%s" text)))

;;;###autoload
(defun xcsh-ls-start ()
  "Start the server for the current buffer, or show that it is running."
  (interactive)
  (if (xcsh-ls-server-p (eglot-current-server))
      (message "xcsh-ls is running")
    (unless (apply #'derived-mode-p xcsh-ls-modes)
      (user-error "The server runs in text and Markdown buffers, and this is %s" major-mode))
    (let ((eglot-server-programs (list (cons xcsh-ls-modes #'xcsh-ls-contact))))
      (call-interactively #'eglot))))

;;;###autoload
(defun xcsh-ls-execute (command)
  "Run COMMAND of the server, which asks for missing arguments."
  (interactive
   (list (completing-read "Command: " (xcsh-ls-command-names (xcsh-ls-server))
                          nil nil "xcsh." 'xcsh-ls-command-history)))
  (xcsh-ls-request-async (xcsh-ls-message (concat command ": done")) command))

;;;###autoload
(defun xcsh-ls-prompt (text)
  "Send TEXT to the model, and show the conversation when it has answered."
  (interactive (list (read-string "Prompt: " nil 'xcsh-ls-history)))
  (xcsh-ls-request-async
   (lambda (result)
     (cond ((eq t (plist-get result :queued)) (message "Queued until the current turn ends"))
           ((plist-get result :answer) (message "%s" (plist-get result :answer)))
           (t (xcsh-ls-dump))))
   "xcsh.prompt" :text text :streamingBehavior "followUp"))

;;;###autoload
(defun xcsh-ls-dump ()
  "Show the conversation of the current session in a buffer."
  (interactive)
  (xcsh-ls-request-async
   (lambda (result)
     (with-current-buffer (get-buffer-create "*xcsh-ls*")
       (let ((inhibit-read-only t))
         (erase-buffer)
         (insert (plist-get result :text)))
       (special-mode)
       (goto-char (point-max))
       (let ((window (display-buffer (current-buffer))))
         (when window (set-window-point window (point-max))))))
   "xcsh.dump"))

;;;###autoload
(defun xcsh-ls-new ()
  "Start a new session."
  (interactive)
  (xcsh-ls-request-async (xcsh-ls-message "New session") "xcsh.new"))

;;;###autoload
(defun xcsh-ls-resume ()
  "Select a session and continue it."
  (interactive)
  (xcsh-ls-request-async (xcsh-ls-message "Session resumed") "xcsh.resume"))

;;;###autoload
(defun xcsh-ls-continue ()
  "Continue the last session."
  (interactive)
  (xcsh-ls-request-async (xcsh-ls-message "Session continued") "xcsh.continue"))

;;;###autoload
(defun xcsh-ls-fork ()
  "Copy the current session, and continue in the copy."
  (interactive)
  (xcsh-ls-request-async (xcsh-ls-message "Session forked") "xcsh.fork"))

;;;###autoload
(defun xcsh-ls-export ()
  "Export the current session as an HTML page."
  (interactive)
  (xcsh-ls-request-async
   (lambda (result) (message "Exported to %s" (plist-get result :path)))
   "xcsh.export"))

;;;###autoload
(defun xcsh-ls-abort ()
  "Stop the running turn."
  (interactive)
  (xcsh-ls-request-async (xcsh-ls-message "Stopped") "xcsh.abort"))

(provide 'xcsh-ls)

;;; xcsh-ls.el ends here
