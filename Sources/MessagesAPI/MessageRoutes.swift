import HTTPServer

/// Everything that apps call about messages.
package enum MessageRoutes {
  package static let routes: [Route] =
    InstallationRoutes.routes + FetchRoutes.routes + ReportRoutes.routes + StreamRoutes.routes
}
