;;; eglot-test.el --- xcsh-ls in a real Emacs  -*- lexical-binding: t -*-

;;; Commentary:

;; Run by run.sh in a folder of its own.  Everything is done with what
;; docs/editors.md gives people, and with what eglot and Emacs have.

;;; Code:

(require 'cl-lib)
(require 'eglot)

(load (getenv "SNIPPET") nil t)
(setq eglot-sync-connect 20
      eglot-autoshutdown nil)

(defvar asked nil "The questions that Emacs asked, newest first.")
(defvar answers nil "The answers to them, in order.")

;; Answers questions in place of the user.
(advice-add 'completing-read :override
            (lambda (prompt choices &rest _)
              (push prompt asked)
              ;; A missing text argument is written into a file.
              (when (string-match "Write it into \\(/.*\\.md\\) and save" prompt)
                (let ((file (match-string 1 prompt)))
                  (with-temp-file file
                    (insert-file-contents file)
                    (goto-char (point-min))
                    (insert (pop answers) "\n"))))
              (let ((answer (pop answers)))
                (or (cl-find-if (lambda (c) (string-match-p answer c)) (all-completions "" choices))
                    answer))))

(defvar said nil "The messages of the server.")
(cl-defmethod eglot-handle-notification :after (_server (_method (eql window/showMessage)) &key message &allow-other-keys)
  (push message said))

(defun sessions ()
  "The files of the sessions."
  (directory-files-recursively (expand-file-name "~/.xcsh") "\\.jsonl\\'"))

(condition-case failure
    (progn
      (find-file "notes.md")
      (unless (derived-mode-p 'text-mode) (text-mode))
      (apply #'eglot (eglot--guess-contact))
      (check "the server starts for a text" (eglot-current-server))

      (check "there are no sessions yet" (equal [] (plist-get (xcsh "xcsh.list") :sessions)))

      (let ((answer (xcsh "xcsh.prompt" :text "look at notes.md")))
        (check "a prompt is answered" (equal "stop" (plist-get answer :stopReason)) answer))
      (check "the conversation is in a file" (= 1 (length (sessions))))

      (let ((listed (plist-get (xcsh "xcsh.list") :sessions)))
        (check "it is listed" (equal "look at notes.md" (plist-get (aref listed 0) :firstMessage)) listed))

      (xcsh "xcsh.new")
      (check "a new session has no messages" (equal 0 (plist-get (xcsh "xcsh.state") :messageCount)))

      ;; By its name alone: what it lacks is asked.
      (setq answers (list "look at notes"))
      (xcsh "xcsh.resume")
      (check "resume asks which" (= 1 (length asked)) asked)
      (check "the conversation goes on" (equal 4 (plist-get (xcsh "xcsh.state") :messageCount)) (xcsh "xcsh.state"))

      (setq answers (list "and again" "Continue"))
      (check "a prompt that is asked for is answered" (equal "stop" (plist-get (xcsh "xcsh.prompt") :stopReason)))
      (check "it is in the session" (equal 8 (plist-get (xcsh "xcsh.state") :messageCount)) (xcsh "xcsh.state"))

      (let* ((result (xcsh "xcsh.export")) (path (plist-get result :path)))
        (check "an export is written" (and path (file-exists-p path)) result))

      (let ((server (eglot-current-server)))
        (eglot-shutdown server)
        (check "the server ends" (until (lambda () (not (jsonrpc-running-p server)))))))
  (error (check "no error" nil failure)))

(message "%d passed, %d failed" passed failed)
(kill-emacs (if (zerop failed) 0 1))

;;; eglot-test.el ends here
